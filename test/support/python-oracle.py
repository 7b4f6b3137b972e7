"""What Python's own `ast` says of a folder of modules, as one JSON document: declarations and relations.

Usage: python3 python-oracle.py ROOT FILE...   (files relative to ROOT)
Calls are followed through names in scope, imports, `self`, `super()`, annotated parameters and what a constructor gives.
"""
import ast
import json
import os
import sys

root, files = sys.argv[1], sys.argv[2:]
known = set(files)
trees = {}
for file in files:
    with open(os.path.join(root, file), encoding="utf-8") as handle:
        trees[file] = ast.parse(handle.read())
declarations, relations = set(), set()
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def module_file(parts, base=""):
    path = "/".join(([base] if base else []) + parts)
    for candidate in ([path + ".py"] if parts else []) + [path + "/__init__.py" if path else "__init__.py"]:
        if candidate in known:
            return candidate
    return None


def absolute(name):
    return module_file(name.split("."))


def relative(file, level, name):
    base = os.path.dirname(file)
    for _ in range(level - 1):
        base = os.path.dirname(base)
    return module_file(name.split(".") if name else [], base)


def submodule(file, name):
    return module_file([name], os.path.dirname(file)) if file.endswith("__init__.py") else None


def source_of(file, node):
    return relative(file, node.level, node.module) if node.level else absolute(node.module)


def names_of(file):
    """Names that a module sees at its top: ('def', file, node) or ('module', file)."""
    names = {}
    for node in ast.walk(trees[file]):
        if isinstance(node, ast.ImportFrom):
            source = source_of(file, node)
            for alias in node.names:
                if alias.name == "*":
                    for part in [] if source is None else trees[source].body:
                        if isinstance(part, FUNCTIONS + (ast.ClassDef,)):
                            names.setdefault(part.name, ("def", source, part))
                else:
                    found = imported(file, node, alias.name, ())
                    if found:
                        names[alias.asname or alias.name] = found
        elif isinstance(node, ast.Import):
            for alias in node.names:
                target = absolute(alias.name if alias.asname else alias.name.split(".")[0])
                if target:
                    names[alias.asname or alias.name.split(".")[0]] = ("module", target)
    for node in trees[file].body:
        if isinstance(node, FUNCTIONS + (ast.ClassDef,)):
            names[node.name] = ("def", file, node)
    return names


def imported(file, node, name, seen):
    source = source_of(file, node)
    found = None if source is None else lookup(source, name, seen)
    if found is None and node.level:
        below = relative(file, node.level, (node.module + "." if node.module else "") + name)
        found = ("module", below) if below else None
    return found


def lookup(file, name, seen=()):
    if (file, name) in seen:
        return None
    for node in trees[file].body:
        if isinstance(node, FUNCTIONS + (ast.ClassDef,)) and node.name == name:
            return ("def", file, node)
    for node in trees[file].body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return imported(file, node, alias.name, (*seen, (file, name)))
    below = submodule(file, name)
    return ("module", below) if below else None


def bases_of(file, node):
    found = []
    for base in node.bases:
        target = evaluate(base, names_of(file), {})
        if target and target[0] == "def":
            found.append(target)
    return found


def member(file, node, name, skip=False):
    if not skip:
        for part in node.body:
            if isinstance(part, FUNCTIONS + (ast.ClassDef,)) and part.name == name:
                return ("def", file, part)
        for part in ast.walk(node):
            if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Attribute) and part.targets[0].attr == name:
                maker = next((f for f in node.body if isinstance(f, FUNCTIONS) and part in list(ast.walk(f))), None)
                if maker:
                    return evaluate(part.value, names_of(file), parameters(file, maker))
    for _, base_file, base in bases_of(file, node):
        found = member(base_file, base, name) if isinstance(base, ast.ClassDef) else None
        if found:
            return found
    return None


def annotation(file, node):
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        node = ast.parse(node.value, mode="eval").body
    target = evaluate(node, names_of(file), {}) if node is not None else None
    return ("value", target[1], target[2]) if target and target[0] == "def" else None


def parameters(file, function):
    return {a.arg: annotation(file, a.annotation) for a in function.args.args if a.annotation is not None}


def evaluate(node, names, local):
    if isinstance(node, ast.Name):
        return local.get(node.id) if node.id in local else names.get(node.id)
    if isinstance(node, ast.Attribute):
        if isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == "super" and local.get("self"):
            return member(local["self"][1], local["self"][2], node.attr, skip=True)
        of = evaluate(node.value, names, local)
        if of is None:
            return None
        if of[0] == "module":
            return lookup(of[1], node.attr)
        return member(of[1], of[2], node.attr) if isinstance(of[2], ast.ClassDef) else None
    if isinstance(node, ast.Call):
        of = evaluate(node.func, names, local)
        if of and of[0] == "def":
            if isinstance(of[2], ast.ClassDef):
                return ("value", of[1], of[2])
            return annotation(of[1], of[2].returns)
    return None


owners = {}


def place(file, node):
    return f"{file}#{owners[node]}"


def declare(file, node, name_in_front, in_class):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            owners[child] = child.name
            declarations.add(f"Class {child.name} {file}")
            declare(file, child, child.name, True)
        elif isinstance(child, FUNCTIONS):
            owners[child] = f"{name_in_front}.{child.name}" if in_class else child.name
            declarations.add(f"{'Method' if in_class else 'Function'} {owners[child]} {file}")
            declare(file, child, child.name, False)
        else:
            declare(file, child, name_in_front, in_class)


def relate(source, relation, target):
    if source != target:
        relations.add(f"{source} {relation} {target}")


def visit(file, node, owner, names, local, cls):
    for child in ast.iter_child_nodes(node):
        inner_owner, inner_local, inner_cls = owner, local, cls
        if isinstance(child, ast.ClassDef):
            inner_owner, inner_cls = place(file, child), child
            for target in bases_of(file, child):
                relate(inner_owner, "EXTENDS", place(target[1], target[2]))
        elif isinstance(child, FUNCTIONS):
            inner_owner = place(file, child)
            inner_local = {**local, **{a.arg: None for a in child.args.args}, **parameters(file, child)}
            if cls is not None and child.args.args and child in cls.body:
                inner_local["self"] = ("value", file, cls)
            for part in child.body:
                if isinstance(part, FUNCTIONS):
                    inner_local[part.name] = ("def", file, part)
                if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
                    inner_local[part.targets[0].id] = evaluate(part.value, names, inner_local)
        elif isinstance(child, ast.Call):
            target = evaluate(child.func, names, local)
            if target and target[0] == "def":
                relate(owner, "CALLS", place(target[1], target[2]))
        visit(file, child, inner_owner, names, inner_local, inner_cls)


for file in files:
    declarations.add(f"Module {file} {file}")
    declare(file, trees[file], "", False)
for file in files:
    for node in ast.walk(trees[file]):
        if isinstance(node, ast.Import):
            for alias in node.names:
                target = absolute(alias.name)
                relate(f"{file}#{file}", "DEPENDS_ON", f"{target}#{target}" if target else alias.name.split(".")[0])
        elif isinstance(node, ast.ImportFrom):
            source = source_of(file, node)
            if source:
                relate(f"{file}#{file}", "DEPENDS_ON", f"{source}#{source}")
            elif not node.level:
                relate(f"{file}#{file}", "DEPENDS_ON", node.module.split(".")[0])
            for alias in node.names:
                below = submodule(source, alias.name) if source else None
                if below:
                    relate(f"{file}#{file}", "DEPENDS_ON", f"{below}#{below}")
    visit(file, trees[file], f"{file}#{file}", names_of(file), {}, None)
print(json.dumps({"declarations": sorted(declarations), "relations": sorted(relations)}))
