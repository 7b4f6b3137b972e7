/**
 * What the TypeScript compiler says of a folder of scripts: the oracle that the extractor is measured by. It shares no
 * code with the extractor; names of concepts are made from the compiler's own tree and types.
 */
import { join, relative } from 'node:path'
import ts from 'typescript'

export interface CodeFacts {
  /** `<type> <name> <file>` */
  readonly declarations: ReadonlySet<string>
  /** `<source> <relation> <target>`, source and target as `<file>#<name>`, a package as its name. */
  readonly relations: ReadonlySet<string>
}

interface Named {
  readonly type: string
  readonly name: string
}

/** `root` is absolute; `files` are relative to it. */
export function askCompiler(root: string, files: readonly string[]): CodeFacts {
  const options: ts.CompilerOptions = {
    allowJs: true,
    checkJs: false,
    noEmit: true,
    target: ts.ScriptTarget.ES2024,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true,
    resolveJsonModule: true,
    skipLibCheck: true,
    strict: true,
    types: [],
  }
  const program = ts.createProgram(
    files.map(file => join(root, file)),
    options,
  )
  return new Oracle(program, options, root, new Set(files)).facts()
}

/** `<type> <name>` of what one text declares, by its syntax alone; null where the compiler does not accept it. */
export function declarationsIn(path: string, text: string): ReadonlySet<string> | null {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true)
  const { parseDiagnostics } = source as unknown as { readonly parseDiagnostics: readonly unknown[] }
  if (parseDiagnostics.length > 0) return null
  const found = new Set<string>()
  const visit = (node: ts.Node): void => {
    const named = conceptOf(node)
    if (named !== null) found.add(`${named.type} ${named.name}`)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

class Oracle {
  readonly #program: ts.Program
  readonly #options: ts.CompilerOptions
  readonly #checker: ts.TypeChecker
  readonly #root: string
  readonly #files: ReadonlySet<string>
  readonly #declarations = new Set<string>()
  readonly #relations = new Set<string>()

  constructor(program: ts.Program, options: ts.CompilerOptions, root: string, files: ReadonlySet<string>) {
    this.#program = program
    this.#options = options
    this.#checker = program.getTypeChecker()
    this.#root = root
    this.#files = files
  }

  facts(): CodeFacts {
    for (const path of this.#files) {
      const source = this.#program.getSourceFile(join(this.#root, path))
      if (source === undefined) throw new Error(`the compiler did not read ${path}`)
      this.#declarations.add(`Module ${path} ${path}`)
      this.#visit(source, path)
    }
    return { declarations: this.#declarations, relations: this.#relations }
  }

  #visit(node: ts.Node, file: string): void {
    const named = conceptOf(node)
    if (named !== null) this.#declarations.add(`${named.type} ${named.name} ${file}`)
    this.#dependencies(node, file)
    if (ts.isClassLike(node) || ts.isInterfaceDeclaration(node)) this.#heritage(node, file)
    if (ts.isCallExpression(node) || ts.isNewExpression(node) || ts.isTaggedTemplateExpression(node))
      this.#call(node, file)
    ts.forEachChild(node, child => this.#visit(child, file))
  }

  #dependencies(node: ts.Node, file: string): void {
    const specifier = moduleOf(node)
    if (specifier === null) return
    const from = join(this.#root, file)
    const found = ts.resolveModuleName(specifier, from, this.#options, ts.sys).resolvedModule
    const path = found === undefined ? null : relative(this.#root, found.resolvedFileName)
    if (path !== null && this.#files.has(path)) this.#relate(`${file}#${file}`, 'DEPENDS_ON', `${path}#${path}`)
    else if (!/^[./#]/.test(specifier)) this.#relate(`${file}#${file}`, 'DEPENDS_ON', packageOf(specifier))
  }

  #heritage(node: ts.ClassLikeDeclaration | ts.InterfaceDeclaration, file: string): void {
    const own = conceptOf(node)
    if (own === null) return
    for (const clause of node.heritageClauses ?? []) {
      const relation = clause.token === ts.SyntaxKind.ExtendsKeyword ? 'EXTENDS' : 'IMPLEMENTS'
      for (const { expression } of clause.types) {
        if (!ts.isIdentifier(expression) && !ts.isPropertyAccessExpression(expression)) continue
        const target = this.#place(this.#symbolAt(expression)?.declarations)
        if (target !== null) this.#relate(`${file}#${own.name}`, relation, target)
      }
    }
  }

  #call(node: ts.CallExpression | ts.NewExpression | ts.TaggedTemplateExpression, file: string): void {
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.SuperKeyword) return
    const callee = ts.isTaggedTemplateExpression(node) ? node.tag : node.expression
    const signature = this.#checker.getResolvedSignature(node)?.declaration
    const target = ts.isNewExpression(node)
      ? this.#place(this.#symbolAt(callee)?.declarations)
      : (this.#place(signature === undefined ? undefined : [signature as ts.Declaration]) ??
        this.#place(this.#symbolAt(callee)?.declarations?.filter(isCallable)))
    const owner = `${file}#${ownerOf(node, file)}`
    if (target !== null) this.#relate(owner, 'CALLS', target)
    // A value that is called, or made from, is what the call names, whatever it was made of (CX-076).
    const constant = this.#place(this.#symbolAt(callee)?.declarations, 'Constant')
    if (constant !== null) this.#relate(owner, 'CALLS', constant)
  }

  #symbolAt(node: ts.Node): ts.Symbol | undefined {
    const symbol = this.#checker.getSymbolAtLocation(node)
    if (symbol === undefined || (symbol.flags & ts.SymbolFlags.Alias) === 0) return symbol
    return this.#checker.getAliasedSymbol(symbol)
  }

  /** Of a concept of this type; without one, of any but a constant. */
  #place(declarations: readonly ts.Declaration[] | undefined, type: string | null = null): string | null {
    for (const declaration of declarations ?? []) {
      const path = relative(this.#root, declaration.getSourceFile().fileName)
      const named = conceptOf(declaration)
      const isWanted = type === null ? named?.type !== 'Constant' : named?.type === type
      if (this.#files.has(path) && named !== null && isWanted) return `${path}#${named.name}`
    }
    return null
  }

  #relate(source: string, relation: string, target: string): void {
    if (source !== target) this.#relations.add(`${source} ${relation} ${target}`)
  }
}

function isCallable(declaration: ts.Declaration): boolean {
  const named = conceptOf(declaration)
  return named !== null && /^(?:Function|Method|Class)$/.test(named.type)
}

/** The concept that the node declares, if it does. */
function conceptOf(node: ts.Node): Named | null {
  if (ts.isClassDeclaration(node)) return named('Class', node.name?.text ?? (isDefault(node) ? 'default' : null))
  if (ts.isInterfaceDeclaration(node)) return named('Interface', node.name.text)
  if (ts.isTypeAliasDeclaration(node)) return named('TypeAlias', node.name.text)
  if (ts.isEnumDeclaration(node)) return named('Enum', node.name.text)
  if (ts.isFunctionDeclaration(node)) return named('Function', node.name?.text ?? (isDefault(node) ? 'default' : null))
  if (ts.isArrowFunction(node) || ts.isFunctionExpression(node) || ts.isClassExpression(node)) return ofValue(node)
  if (ts.isMethodDeclaration(node) || ts.isAccessor(node)) return ofMember(node)
  if (ts.isPropertyDeclaration(node)) return isFunctionValue(node.initializer) ? ofMember(node) : null
  if (ts.isVariableDeclaration(node)) return ofVariable(node)
  if (ts.isBindingElement(node) && ts.isIdentifier(node.name))
    return isExportedConst(node) ? named('Constant', node.name.text) : null
  return null
}

function named(type: string, name: string | null): Named | null {
  return name === null ? null : { type, name }
}

/** A function or class is named by the variable, field or default export that it is given to. */
function ofValue(node: ts.ArrowFunction | ts.FunctionExpression | ts.ClassExpression): Named | null {
  const { parent } = node
  if (ts.isVariableDeclaration(parent)) return ofVariable(parent)
  if (ts.isPropertyDeclaration(parent)) return conceptOf(parent)
  if (!ts.isExportAssignment(parent)) return null
  return named(ts.isClassExpression(node) ? 'Class' : 'Function', node.name?.text ?? 'default')
}

function ofVariable(node: ts.VariableDeclaration): Named | null {
  if (!ts.isIdentifier(node.name)) return null
  if (isFunctionValue(node.initializer)) return named('Function', node.name.text)
  if (node.initializer !== undefined && ts.isClassExpression(node.initializer)) return named('Class', node.name.text)
  return isExportedConst(node) ? named('Constant', node.name.text) : null
}

function ofMember(node: ts.MethodDeclaration | ts.AccessorDeclaration | ts.PropertyDeclaration): Named | null {
  const owner = ts.isClassLike(node.parent) ? conceptOf(node.parent) : null
  if (owner === null || ts.isComputedPropertyName(node.name)) return null
  return named('Method', `${owner.name}.${ts.isStringLiteral(node.name) ? node.name.text : node.name.getText()}`)
}

function isFunctionValue(node: ts.Expression | undefined): boolean {
  return node !== undefined && (ts.isArrowFunction(node) || ts.isFunctionExpression(node))
}

function isDefault(node: ts.HasModifiers): boolean {
  return node.modifiers?.some(modifier => modifier.kind === ts.SyntaxKind.DefaultKeyword) ?? false
}

/** `const` with `export` in front, or named in an export statement of the file. */
function isExportedConst(node: ts.VariableDeclaration | ts.BindingElement): boolean {
  let at: ts.Node = node
  while (!ts.isVariableStatement(at)) {
    if (ts.isSourceFile(at) || ts.isFunctionLike(at)) return false
    at = at.parent
  }
  if ((at.declarationList.flags & ts.NodeFlags.Const) === 0) return false
  if (at.modifiers?.some(modifier => modifier.kind === ts.SyntaxKind.ExportKeyword)) return true
  const name = (node.name as ts.Identifier).text
  return (
    ts.isSourceFile(at.parent) &&
    at.parent.statements.some(
      statement =>
        (ts.isExportAssignment(statement) &&
          ts.isIdentifier(statement.expression) &&
          statement.expression.text === name) ||
        (ts.isExportDeclaration(statement) &&
          statement.moduleSpecifier === undefined &&
          statement.exportClause !== undefined &&
          ts.isNamedExports(statement.exportClause) &&
          statement.exportClause.elements.some(element => (element.propertyName ?? element.name).text === name)),
    )
  )
}

/** The innermost concept around the node. */
function ownerOf(node: ts.Node, file: string): string {
  for (let at = node.parent; at !== undefined; at = at.parent) {
    const found = conceptOf(at)
    if (found !== null) return found.name
  }
  return file
}

function moduleOf(node: ts.Node): string | null {
  if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined) {
    return ts.isStringLiteral(node.moduleSpecifier) ? node.moduleSpecifier.text : null
  }
  if (ts.isExternalModuleReference(node) && ts.isStringLiteral(node.expression)) return node.expression.text
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) {
    return node.argument.literal.text
  }
  if (!ts.isCallExpression(node)) return null
  const isImport = node.expression.kind === ts.SyntaxKind.ImportKeyword
  const isRequire = ts.isIdentifier(node.expression) && node.expression.text === 'require'
  const [argument] = node.arguments
  return (isImport || isRequire) && argument !== undefined && ts.isStringLiteralLike(argument) ? argument.text : null
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
