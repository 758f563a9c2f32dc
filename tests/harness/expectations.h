// What a test file says about itself, in comment lines of its own:
//
//     // expect: LINE            a line of standard output, in order; all lines must be there and no others
//     // error-output: TEXT      standard error contains this
//     // status: N               the exit status (0 when not said)
//     // trap LINE: TEXT         exit status 134; standard error contains FILE:LINE: and TEXT
//     // args: A B C             arguments, separated by spaces
//     // stdin: LINE             a line of standard input, in order
//     // file NAME: LINE         a line of a file that lies in the folder where the program runs
//     // set: NAME=VALUE         given to the compiler as --set
//     // tiers: NAMES            only these of: interpret debug checked release
//     // error LINE: SENTENCE    the compiler must say this of that line (makes the file a program to be refused)
//     // note: TEXT              the help after the error above
//
// `// expect[release]: LINE` and the like hold for the named ways alone and there replace the lines without brackets.
#pragma once
#include <string>
#include <vector>

struct Directive {
  std::string key;                 // "expect", "error", …
  std::string argument;            // the number or name between the key and its colon
  std::vector<std::string> only;   // the ways in brackets; empty: all
  std::string value;
};

struct TestFile {
  std::string path, name;          // name: without folder and extension
  std::string text;                // as on the disk
  std::vector<Directive> directives;
  bool isReject() const;
  // The directives of a key that hold for a way to run ("interpret", "debug", …), most specific ones first choice.
  std::vector<Directive> of(const std::string& key, const std::string& way) const;
  std::string lastOf(const std::string& key, const std::string& way, const std::string& otherwise) const;
};

TestFile readTestFile(const std::string& path);

// The text with every directive of these keys replaced by the new lines, which go where the first one stood (or the end).
std::string replaceDirectives(const TestFile& file, const std::vector<std::string>& keys, const std::vector<std::string>& lines);

std::vector<std::string> splitLines(const std::string& text);
// A line diff for people: ` ` common, `-` expected only, `+` got only.
std::string diffLines(const std::vector<std::string>& expected, const std::vector<std::string>& got);
std::string readFile(const std::string& path);
void writeFile(const std::string& path, const std::string& text);
