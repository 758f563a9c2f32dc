// Names to definitions, and what the program reaches. The runtime defines thousands of symbols of which a program uses
// few, so an input's symbols are looked at only when a relocation names them.
#include <algorithm>

#include "elf/context.h"

namespace mica::elf {
namespace {

// What the linker itself defines.
constexpr std::string_view ProvidedNames[] = {"mica.text.start", "mica.text.end", "mica.places", "mica.state"};

bool isProvided(std::string_view name) {
  return std::find(std::begin(ProvidedNames), std::end(ProvidedNames), name) != std::end(ProvidedNames);
}

// Finds the definition of a global name in any input.
void define(Context& ctx, uint32_t id, std::vector<uint32_t>& work) {
  Symbol& symbol = ctx.symbols[id];
  if (isProvided(symbol.name)) {
    symbol.kind = Symbol::Provided;
    return;
  }
  for (uint32_t i = 0; i < ctx.inputs.size(); i++) {
    uint32_t own = ctx.inputs[i].find(symbol.name);
    uint32_t definition = own == Input::Undefined ? own : ctx.inputs[i].definition(own);
    if (definition == Input::Undefined) continue;
    symbol.kind = Symbol::Defined;
    symbol.section = uint32_t(ctx.sections.size());
    ctx.sections.push_back({i, definition, id});
    work.push_back(symbol.section);
    return;
  }
}

uint32_t globalSymbol(Context& ctx, std::string_view name, std::vector<uint32_t>& work) {
  auto [at, fresh] = ctx.byName.try_emplace(name, uint32_t(ctx.symbols.size()));
  if (fresh) {
    ctx.symbols.push_back({});
    ctx.symbols.back().name = name;
    define(ctx, at->second, work);
  }
  return at->second;
}

uint32_t reach(Context& ctx, uint32_t input, uint32_t own, std::vector<uint32_t>& work) {
  uint32_t& id = ctx.symbolOf[input][own];
  if (id == Context::NoSymbol) id = globalSymbol(ctx, ctx.inputs[input].symbolName(own), work);
  return id;
}

// Where in the source an undefined symbol is used: the function and, where known, its line.
std::string describeUse(const Context& ctx, const Section& section, uint32_t offset) {
  std::string text(ctx.nameOf(section));
  if (section.definition & Input::DataBit) return text;
  const Input& input = ctx.inputOf(section);
  uint32_t place = NoPlace;
  input.eachLine(section.definition, [&](const LineEntry& l) { if (l.offset <= offset) place = l.place; });
  if (place == NoPlace) return text;
  PlaceView at = input.place(place);
  return text + " (" + std::string(at.file) + ":" + std::to_string(at.line) + ")";
}

void reportUndefined(Context& ctx) {
  for (const Symbol& symbol : ctx.symbols) {
    if (symbol.kind != Symbol::Undefined) continue;
    std::string text = "undefined symbol `" + std::string(symbol.name) + "`";
    for (size_t i = 0; i < symbol.users.size(); i++) text += (i ? ", " : ", used in ") + symbol.users[i];
    if (symbol.references > symbol.users.size()) text += " and " + std::to_string(symbol.references - symbol.users.size()) + " more";
    ctx.errors.push_back(std::move(text));
  }
}

// An input's own order, inputs one after the other: the file does not depend on who called whom first.
void sortSections(Context& ctx) {
  auto key = [](const Section& s) { return std::pair(s.input, s.definition); };
  std::sort(ctx.sections.begin(), ctx.sections.end(), [&](const Section& a, const Section& b) { return key(a) < key(b); });
  for (uint32_t i = 0; i < ctx.sections.size(); i++) ctx.symbols[ctx.sections[i].symbol].section = i;
}

}  // namespace

// A literal may be in several inputs; the first one is linked.
void checkDuplicates(Context& ctx) {
  auto report = [&](std::string_view name, const std::string& first, const std::string& second) {
    ctx.errors.push_back("duplicate symbol `" + std::string(name) + "`, defined in " + first + " and in " + second);
  };
  auto definition = [](const Input& input, std::string_view name) {
    uint32_t symbol = input.find(name);
    return symbol == Input::Undefined ? symbol : input.definition(symbol);
  };
  for (size_t j = 0; j < ctx.inputs.size(); j++) {
    for (std::string_view name : ProvidedNames)
      if (definition(ctx.inputs[j], name) != Input::Undefined) report(name, "the linker", ctx.inputs[j].name());
    for (size_t i = 0; i < j; i++) {
      // The smaller one's names are looked up in the larger one.
      const Input &a = ctx.inputs[i], &b = ctx.inputs[j];
      const Input &few = a.symbolCount() < b.symbolCount() ? a : b, &many = &few == &a ? b : a;
      for (uint32_t s = 0; s < few.symbolCount(); s++) {
        std::string_view name = few.symbolName(s);
        if (few.definition(s) == Input::Undefined) continue;
        uint32_t other = definition(many, name);
        if (other == Input::Undefined) continue;
        bool same = isLiteralSymbol(name) && few.section(few.definition(s)).bytes == many.section(other).bytes;
        if (!same) report(name, a.name(), b.name());
      }
    }
  }
}

void markReached(Context& ctx) {
  for (const Input& input : ctx.inputs) ctx.symbolOf.emplace_back(input.symbolCount(), Context::NoSymbol);
  std::vector<uint32_t> work;
  auto root = [&](std::string_view name, std::string_view why) {
    Symbol& symbol = ctx.symbols[globalSymbol(ctx, name, work)];
    if (symbol.kind != Symbol::Undefined) return;
    symbol.references++;
    symbol.users.emplace_back(why);
  };
  root(ctx.options.entry, "the program's entry");
  for (const std::string& name : ctx.options.roots) root(name, "the list of roots");

  while (!work.empty()) {
    uint32_t index = work.back();
    work.pop_back();
    uint32_t input = ctx.sections[index].input, definition = ctx.sections[index].definition;
    ctx.inputs[input].eachReloc(definition, [&](const Reloc& r) {
      Symbol& symbol = ctx.symbols[reach(ctx, input, r.symbol, work)];
      if (symbol.kind != Symbol::Undefined) return;
      symbol.references++;
      if (symbol.users.size() < 3) symbol.users.push_back(describeUse(ctx, ctx.sections[index], r.offset));
    });
  }
  reportUndefined(ctx);
  sortSections(ctx);
  const Symbol& entry = ctx.symbols[ctx.byName.at(ctx.options.entry)];
  if (entry.kind == Symbol::Provided || (entry.kind == Symbol::Defined && (ctx.sections[entry.section].definition & Input::DataBit)))
    ctx.errors.push_back("the program's entry `" + ctx.options.entry + "` is not a function");
}

uint32_t resolve(Context& ctx, uint32_t input, uint32_t symbol) { return ctx.symbolOf[input][symbol]; }

}  // namespace mica::elf
