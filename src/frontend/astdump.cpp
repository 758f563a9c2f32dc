// Printing tokens and trees. Each family of nodes is one switch; lists are labelled when a reader could mistake them.
#include "frontend/astdump.h"
#include <charconv>
#include <vector>
#include "frontend/utf8.h"

namespace mica {

using namespace ast;

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else if (c == '\r') out += "\\r";
    else if (c == '\0') out += "\\0";
    else if (c == '"' || c == '\\') { out += '\\'; out += c; }
    else out += c;
  }
  return out + "\"";
}

std::string shortest(double value) {
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

// Mode as a word before something.
const char* modeWord(Mode mode) { return mode == Mode::Inout ? " inout" : mode == Mode::Move ? " move" : ""; }

class Dumper {
 public:
  explicit Dumper(const Context& context) : context(context) {}
  std::string take() { return std::move(out); }

  void module(const Module& m, std::string_view only) {
    if (only.empty()) {
      line("module " + std::string(context.text(m.name)), {});
      docs(m.doc);
    }
    for (const Decl* d : m.declarations)
      if (only.empty() || (d->name && context.text(d->name) == only)) decl(d);
    if (only.empty() && !m.script.statements.empty()) block("script", m.script);
  }

  // ---- lines ----

  void line(const std::string& text, Place place) {
    out.append(size_t(indent) * 2, ' ');
    out += text;
    if (place.file) out += "  @" + std::to_string(place.line) + ":" + std::to_string(place.column);
    out += '\n';
  }
  // Runs what prints the children of the line just printed.
  template <class F> void inside(F&& children) {
    indent++;
    children();
    indent--;
  }
  std::string text(const Name& name) { return std::string(context.text(name)); }
  std::string path(Seq<Name> names) {
    std::string s;
    for (const Name& n : names) s += (s.empty() ? "" : ".") + text(n);
    return s;
  }
  void docs(Seq<std::string_view> lines) {
    for (auto l : lines) inside([&] { line("doc " + quoted(l), {}); });
  }

  // ---- declarations ----

  void decl(const Decl* d) {
    std::string head = d->isPub ? "pub " : "";
    for (const Attribute& a : d->attributes) {
      line("@" + text(a.name), a.name.place);
      inside([&] { for (Expr* e : a.args) expr(e); });
    }
    switch (d->kind) {
      case DeclKind::Import: {
        head += "import";
        for (const Name& n : as<ImportDecl>(d)->modules) head += " " + text(n);
        line(head, d->place);
        return;
      }
      case DeclKind::Const: {
        auto* c = as<ConstDecl>(d);
        line(head + "const " + text(d->name), d->place);
        docs(d->doc);
        inside([&] { if (c->type) type(c->type); expr(c->value); });
        return;
      }
      case DeclKind::Type: typeDecl(as<TypeDecl>(d), head); return;
      case DeclKind::Func: {
        auto* f = as<FuncDecl>(d);
        line(head + "func " + text(d->name) + generics(f->generics), d->place);
        docs(d->doc);
        inside([&] {
          for (const Param& p : f->params) param(p);
          result(f->result);
          fails(f->fails);
          if (f->hasBody) block("body", f->body);
        });
        return;
      }
      case DeclKind::Failure: {
        auto* f = as<FailureDecl>(d);
        line(head + "failure " + text(d->name), d->place);
        docs(d->doc);
        inside([&] { for (auto& x : f->fields) field(x); if (f->message) expr(f->message); });
        return;
      }
      case DeclKind::Test: {
        auto* t = as<TestDecl>(d);
        line("test " + quoted(t->title), d->place);
        inside([&] { block("body", t->body); });
        return;
      }
    }
  }

  void typeDecl(const TypeDecl* t, const std::string& head) {
    const char* body = t->body == TypeBody::Record ? " record" : t->body == TypeBody::Choice ? " choice" : "";
    line(head + "type " + text(t->name) + generics(t->generics) + body, t->place);
    docs(t->doc);
    inside([&] {
      if (t->alias) type(t->alias);
      for (auto& f : t->fields) field(f);
      for (auto& c : t->cases) {
        line("case " + text(c.name), c.name.place);
        docs(c.doc);
        inside([&] { for (auto& f : c.fields) field(f); });
      }
    });
  }

  std::string generics(Seq<GenericParam> params) {
    if (params.empty()) return "";
    std::string s;
    for (auto& p : params) {
      s += (s.empty() ? " [" : ", ") + text(p.name);
      for (size_t i = 0; i < p.constraints.size(); i++) s += (i ? " and " : ": ") + text(p.constraints[i]);
    }
    return s + "]";
  }

  void field(const FieldDecl& f) {
    line("field " + text(f.name), f.name.place);
    docs(f.doc);
    inside([&] { type(f.type); if (f.defaultValue) { line("default", {}); inside([&] { expr(f.defaultValue); }); } });
  }
  void param(const Param& p) {
    line("param" + std::string(modeWord(p.mode)) + " " + text(p.name), p.name.place);
    inside([&] { if (p.type) type(p.type); if (p.defaultValue) { line("default", {}); inside([&] { expr(p.defaultValue); }); } });
  }
  void result(const ResultType& r) {
    if (!r.type) return;
    line(r.mode == Mode::Move ? "result" : r.mode == Mode::Read ? "result read" : "result inout", {});
    inside([&] { type(r.type); });
  }
  void fails(const FailsClause& f) {
    if (!f.present()) return;
    std::string s = f.any ? " any" : "";
    for (auto& n : f.failures) s += " " + path(n.path);
    line("fails" + s, f.place);
  }

  // ---- statements ----

  void block(const char* label, const Block& b) {
    line(label, {});
    inside([&] { for (const Stmt* s : b.statements) stmt(s); });
  }

  void condition(const Condition& c) {
    if (!c.isLet) { expr(c.value); return; }
    line(std::string("let") + modeWord(c.mode), c.pattern->place);
    inside([&] { pattern(c.pattern); if (c.type) type(c.type); expr(c.value); });
  }

  void loopHead(const LoopHead& h) {
    line(std::string("in") + modeWord(h.mode), {});
    inside([&] {
      if (h.index) { line("index", {}); inside([&] { pattern(h.index); }); }
      pattern(h.item);
      expr(h.source);
      if (h.step) { line("by", {}); inside([&] { expr(h.step); }); }
    });
  }

  void arm(const MatchArm& a) {
    line(a.isElse ? "else" : "case", a.place);
    inside([&] {
      for (const Pattern* p : a.patterns) pattern(p);
      if (a.guard) { line("if", {}); inside([&] { expr(a.guard); }); }
      if (a.value) expr(a.value);
      else block("then", a.body);
    });
  }

  void stmt(const Stmt* s) {
    switch (s->kind) {
      case StmtKind::Error: line("error", s->place); return;
      case StmtKind::Expr: line("do", s->place); inside([&] { expr(as<ExprStmt>(s)->value); }); return;
      case StmtKind::Local: {
        auto* l = as<LocalStmt>(s);
        line(l->isVar ? "var" : l->isInout ? "let inout" : "let", s->place);
        inside([&] { pattern(l->pattern); if (l->type) type(l->type); expr(l->value); });
        return;
      }
      case StmtKind::Const: decl(as<ConstStmt>(s)->declaration); return;
      case StmtKind::Assign: {
        static constexpr const char* signs[] = {":=", "+=", "-=", "*=", "/="};
        auto* a = as<AssignStmt>(s);
        line(signs[size_t(a->op)], a->opPlace);
        inside([&] { expr(a->target); expr(a->value); });
        return;
      }
      case StmtKind::If: {
        auto* i = as<IfStmt>(s);
        line("if", s->place);
        inside([&] {
          for (auto& b : i->branches) { condition(b.condition); block("then", b.body); }
          if (i->hasElse) block("else", i->otherwise);
        });
        return;
      }
      case StmtKind::While:
        line("while", s->place);
        inside([&] { condition(as<WhileStmt>(s)->condition); block("do", as<WhileStmt>(s)->body); });
        return;
      case StmtKind::For: {
        auto* f = as<ForStmt>(s);
        line(f->isParallel ? "parallel for" : "for", s->place);
        inside([&] { loopHead(f->head); block("do", f->body); });
        return;
      }
      case StmtKind::Loop: line("loop", s->place); inside([&] { block("do", as<LoopStmt>(s)->body); }); return;
      case StmtKind::Break: line("break", s->place); return;
      case StmtKind::Continue: line("continue", s->place); return;
      case StmtKind::Return: line("return", s->place); inside([&] { if (auto* v = as<ReturnStmt>(s)->value) expr(v); }); return;
      case StmtKind::Fail: line("fail", s->place); inside([&] { expr(as<FailStmt>(s)->value); }); return;
      case StmtKind::Match: {
        auto* m = as<MatchStmt>(s);
        line(std::string("match") + modeWord(m->mode), s->place);
        inside([&] { expr(m->subject); for (auto& a : m->arms) arm(a); });
        return;
      }
      case StmtKind::Assert:
        line("assert", s->place);
        inside([&] { expr(as<AssertStmt>(s)->condition); if (auto* m = as<AssertStmt>(s)->message) expr(m); });
        return;
      case StmtKind::Tape: line("tape", s->place); inside([&] { block("body", as<TapeStmt>(s)->body); }); return;
      case StmtKind::Each: {
        auto* e = as<EachStmt>(s);
        std::string names;
        for (auto& n : e->names) names += " " + text(n);
        if (e->path) names += " at " + text(e->path);
        line("each" + names, s->place);
        inside([&] { for (const Expr* r : e->records) expr(r); block("do", e->body); });
        return;
      }
      case StmtKind::Tasks: {
        auto* t = as<TasksStmt>(s);
        line("tasks", s->place);
        inside([&] { if (t->limit) { line("limit", {}); inside([&] { expr(t->limit); }); } block("body", t->body); });
        return;
      }
      case StmtKind::Attempt: {
        auto* a = as<AttemptStmt>(s);
        line("attempt", s->place);
        inside([&] {
          block("body", a->body);
          for (auto& r : a->arms) {
            line("recover " + text(r.name) + ": " + (r.any ? "any" : path(r.failure.path)), r.place);
            inside([&] { block("then", r.body); });
          }
        });
        return;
      }
    }
  }

  // ---- patterns ----

  void pattern(const Pattern* p) {
    switch (p->kind) {
      case PatternKind::Error: line("error", p->place); return;
      case PatternKind::Discard: line("_", p->place); return;
      case PatternKind::Name: line("name " + std::string(context.text(as<NamePattern>(p)->name)), p->place); return;
      case PatternKind::Literal: expr(as<LiteralPattern>(p)->value); return;
      case PatternKind::Range: {
        auto* r = as<RangePattern>(p);
        line(r->halfOpen ? "..<" : "..", p->place);
        inside([&] { expr(r->low); expr(r->high); });
        return;
      }
      case PatternKind::Case: {
        auto* c = as<CasePattern>(p);
        line("of " + path(c->path), p->place);
        inside([&] {
          for (auto& part : c->parts) {
            if (!part.field) { pattern(part.pattern); continue; }
            line(text(part.field) + ":", part.field.place);
            inside([&] { pattern(part.pattern); });
          }
        });
        return;
      }
      case PatternKind::Tuple:
        line("tuple", p->place);
        inside([&] { for (const Pattern* e : as<TuplePattern>(p)->elements) pattern(e); });
        return;
    }
  }

  // ---- types ----

  void type(const TypeExpr* t) {
    auto one = [&](const char* label, const TypeExpr* element) {
      line(label, t->place);
      inside([&] { type(element); });
    };
    switch (t->kind) {
      case TypeKind::Error: line("type error", t->place); return;
      case TypeKind::Named: {
        auto* n = as<NamedType>(t);
        line("type " + path(n->path), t->place);
        inside([&] { for (const Expr* e : n->args) expr(e); });
        return;
      }
      case TypeKind::Tensor: {
        static constexpr const char* names[] = {"vector", "matrix", "tensor", "simd"};
        auto* n = as<TensorType>(t);
        line(std::string("type ") + names[size_t(n->family)], t->place);
        inside([&] { for (const Expr* e : n->extents) expr(e); if (n->element) { line("of", {}); inside([&] { type(n->element); }); } });
        return;
      }
      case TypeKind::Array: {
        auto* n = as<ArrayType>(t);
        line("type array", t->place);
        inside([&] { if (n->extent) expr(n->extent); if (n->element) type(n->element); });
        return;
      }
      case TypeKind::List: return one("type list", as<ListType>(t)->element);
      case TypeKind::Set: return one("type set", as<SetType>(t)->element);
      case TypeKind::Stream: return one("type stream", as<StreamType>(t)->element);
      case TypeKind::Box: return one("type box", as<BoxType>(t)->element);
      case TypeKind::Shared: return one("type shared", as<SharedType>(t)->element);
      case TypeKind::Optional: return one("type optional", as<OptionalType>(t)->element);
      case TypeKind::Map:
        line("type map", t->place);
        inside([&] { type(as<MapType>(t)->key); type(as<MapType>(t)->value); });
        return;
      case TypeKind::Tuple:
        line("type tuple", t->place);
        inside([&] { for (const TypeExpr* e : as<TupleType>(t)->elements) type(e); });
        return;
      case TypeKind::Func: {
        auto* f = as<FuncType>(t);
        line("type func", t->place);
        inside([&] {
          for (auto& p : f->params) { line(std::string("param") + modeWord(p.mode), {}); inside([&] { type(p.type); }); }
          result(f->result);
          fails(f->fails);
        });
        return;
      }
      case TypeKind::Marked: {
        auto* m = as<MarkedType>(t);
        return one(m->tracked ? (m->onGpu ? "type tracked on gpu" : "type tracked") : "type on gpu", m->element);
      }
      case TypeKind::Open: line("type ?", t->place); return;
    }
  }

  // ---- expressions ----

  void args(Seq<Arg> list) {
    for (const Arg& a : list) {
      std::string label = a.name ? text(a.name) + ":" : "";
      if (a.isInout) label += label.empty() ? "inout" : " inout";
      if (label.empty()) { expr(a.value); continue; }
      line(label, a.place);
      inside([&] { expr(a.value); });
    }
  }

  // A long chain is listed flat, from left to right; a short one as the tree that it is.
  void binary(const BinaryExpr* b) {
    std::vector<const BinaryExpr*> spine;
    const Expr* leftmost = b;
    for (; leftmost->kind == ExprKind::Binary; leftmost = as<BinaryExpr>(leftmost)->left) spine.push_back(as<BinaryExpr>(leftmost));
    if (spine.size() <= 20) {
      line(std::string(spelling(b->op)), b->opPlace);
      inside([&] { expr(b->left); expr(b->right); });
      return;
    }
    line("chain", b->place);
    inside([&] {
      expr(leftmost);
      for (size_t i = spine.size(); i-- > 0; ) {
        line(std::string(spelling(spine[i]->op)), spine[i]->opPlace);
        inside([&] { expr(spine[i]->right); });
      }
    });
  }

  void list(const char* label, const Expr* e, Seq<Expr*> elements) {
    line(label, e->place);
    inside([&] { for (const Expr* x : elements) expr(x); });
  }

  void expr(const Expr* e) {
    switch (e->kind) {
      case ExprKind::Error: line("error", e->place); return;
      case ExprKind::Integer: line(std::to_string(as<IntegerExpr>(e)->value), e->place); return;
      case ExprKind::Float: line(shortest(as<FloatExpr>(e)->value64), e->place); return;
      case ExprKind::Char: {
        std::string c;
        utf8Append(c, as<CharExpr>(e)->codePoint);
        line("char " + quoted(c), e->place);
        return;
      }
      case ExprKind::Bool: line(as<BoolExpr>(e)->value ? "true" : "false", e->place); return;
      case ExprKind::None: line("none", e->place); return;
      case ExprKind::String: line(quoted(as<StringExpr>(e)->text), e->place); return;
      case ExprKind::Interpolation:
        line("string", e->place);
        inside([&] {
          for (auto& part : as<InterpolationExpr>(e)->parts) {
            if (!part.value) { line(quoted(part.text), {}); continue; }
            if (part.formatSpan.place.file == 0) { expr(part.value); continue; }
            line("format " + quoted(part.format), part.formatSpan.place);
            inside([&] { expr(part.value); });
          }
        });
        return;
      case ExprKind::Name: line(std::string(context.text(as<NameExpr>(e)->name)), e->place); return;
      case ExprKind::Discard: line("_", e->place); return;
      case ExprKind::Field: line("." + text(as<FieldExpr>(e)->name), e->place); inside([&] { expr(as<FieldExpr>(e)->base); }); return;
      case ExprKind::TupleField:
        line("." + std::to_string(as<TupleFieldExpr>(e)->index), e->place);
        inside([&] { expr(as<TupleFieldExpr>(e)->base); });
        return;
      case ExprKind::Index: line("index", e->place); inside([&] { expr(as<IndexExpr>(e)->base); args(as<IndexExpr>(e)->args); }); return;
      case ExprKind::Call: line("call", e->place); inside([&] { expr(as<CallExpr>(e)->callee); args(as<CallExpr>(e)->args); }); return;
      case ExprKind::Unary: line(std::string(spelling(as<UnaryExpr>(e)->op)), e->place); inside([&] { expr(as<UnaryExpr>(e)->operand); }); return;
      case ExprKind::Binary: binary(as<BinaryExpr>(e)); return;
      case ExprKind::Range: {
        auto* r = as<RangeExpr>(e);
        line(r->isWhole() ? "whole" : r->halfOpen ? "..<" : "..", r->opPlace);
        inside([&] { if (r->low) expr(r->low); if (r->high) expr(r->high); });
        return;
      }
      case ExprKind::If:
        line("if", e->place);
        inside([&] {
          for (auto& b : as<IfExpr>(e)->branches) { condition(b.condition); line("then", {}); inside([&] { expr(b.value); }); }
          line("else", {});
          inside([&] { expr(as<IfExpr>(e)->otherwise); });
        });
        return;
      case ExprKind::Match: {
        auto* m = as<MatchExpr>(e);
        line(std::string("match") + modeWord(m->mode), e->place);
        inside([&] { expr(m->subject); for (auto& a : m->arms) arm(a); });
        return;
      }
      case ExprKind::Try: {
        auto* t = as<TryExpr>(e);
        line("try", e->place);
        inside([&] { expr(t->operand); if (t->otherwise) { line("else", {}); inside([&] { expr(t->otherwise); }); } });
        return;
      }
      case ExprKind::Jump: stmt(as<JumpExpr>(e)->statement); return;
      case ExprKind::Tuple: return list("tuple", e, as<TupleExpr>(e)->elements);
      case ExprKind::List: return list("list", e, as<ListExpr>(e)->elements);
      case ExprKind::Set: return list("set", e, as<SetExpr>(e)->elements);
      case ExprKind::Map:
        line("map", e->place);
        inside([&] { for (auto& x : as<MapExpr>(e)->entries) { expr(x.key); inside([&] { expr(x.value); }); } });
        return;
      case ExprKind::EmptyBraces: line("{}", e->place); return;
      case ExprKind::Comprehension: {
        auto* c = as<ComprehensionExpr>(e);
        line(c->isParallel ? "comprehension parallel" : "comprehension", e->place);
        inside([&] { expr(c->element); loopHead(c->head); });
        return;
      }
      case ExprKind::Closure: {
        auto* c = as<ClosureExpr>(e);
        line(c->isMove ? "closure move" : "closure", e->place);
        inside([&] {
          for (auto& p : c->params) param(p);
          result(c->result);
          fails(c->fails);
          if (c->value) expr(c->value);
          else block("body", c->body);
        });
        return;
      }
      case ExprKind::Spawn: line("spawn", e->place); inside([&] { expr(as<SpawnExpr>(e)->call); }); return;
      case ExprKind::TypeLiteral: type(as<TypeLiteralExpr>(e)->type); return;
      case ExprKind::Expand: line(std::string(context.text(as<ExpandExpr>(e)->name)) + "...", e->place); return;
    }
  }

 private:
  const Context& context;
  std::string out;
  int indent = 0;
};

}  // namespace

std::string dumpTokens(const Context& context, const Tokens& tokens) {
  std::string out;
  std::string_view source = context.sources.text(tokens.file);
  for (const Token& t : tokens.list) {
    std::string place = std::to_string(t.line) + ":" + std::to_string(t.column);
    out += place + std::string(place.size() < 9 ? 9 - place.size() : 1, ' ');
    std::string name(nameOf(t.kind));
    std::string text(source.substr(t.offset, t.length));
    for (char& c : text) if (c == '\n' || c == '\r') c = ' ';
    if (!text.empty()) name += std::string(name.size() < 14 ? 14 - name.size() : 1, ' ') + text;
    out += name + "\n";
  }
  return out;
}

std::string dumpTree(const Context& context, const Module& module, std::string_view function) {
  Dumper dumper(context);
  dumper.module(module, function);
  return dumper.take();
}

std::string dumpExpr(const Context& context, const Expr* expr) {
  Dumper dumper(context);
  dumper.expr(expr);
  return dumper.take();
}

std::string dumpType(const Context& context, const TypeExpr* type) {
  Dumper dumper(context);
  dumper.type(type);
  return dumper.take();
}

}  // namespace mica
