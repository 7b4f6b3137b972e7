/**
 * Types of the data read out of one file: concepts, and references from them to names that other files may declare. These are plain JSON
 * data that the store keeps, so that only changed files are read again; references are resolved later, in `resolve/`. Also: a file's
 * language by its name, and the reasons why a file is not read.
 */

export type ConceptType =
  | 'Module'
  | 'Class'
  | 'Interface'
  | 'TypeAlias'
  | 'Enum'
  | 'Function'
  | 'Method'
  | 'Constant'
  | 'Package'
  | 'Document'
  | 'Section'
  | 'Entity'
  | 'Caveat'

/** Weights of links between concepts: 1 for hard links (such as calls), 0.5 for moderate and 0.1 for weak ones. */
export const HARD = 1
export const MODERATE = 0.5
const WEAK = 0.1

export const WEIGHTS = {
  DEPENDS_ON: HARD,
  EXTENDS: HARD,
  IMPLEMENTS: HARD,
  CONTAINS: HARD,
  DEFINED_IN: HARD,
  CALLS: MODERATE,
  USES: MODERATE,
  LINKS_TO: MODERATE,
  MENTIONS: WEAK,
} as const
export type Relation = keyof typeof WEIGHTS

/** A concept (declaration, section or file) as read from its file, before the store gives it an id. */
export interface ReadConcept {
  /**
   * Key of the concept, unique in its file and unchanged while the declaration keeps its place: `<type> <qualified name>`, with `~2`, `~3`
   * and so on where a name is repeated.
   */
  readonly key: string
  readonly type: ConceptType
  /** Name of the concept, such as `load` or `Store.load`; for a module or document its path. */
  readonly name: string
  /** Name with all enclosing declarations in front: `outer.Store.load`. */
  readonly qualifiedName: string
  /** First line of the concept, counted from 1; the first and the last line both belong to the concept. */
  readonly startLine: number
  readonly endLine: number
  /** The declaration up to its body, written on one line; empty where there is none. */
  readonly signature: string
  /** The documentation comment of the concept, without comment marks; empty where there is none. */
  readonly doc: string
}

/**
 * Says by a path of steps how to find the declaration that a piece of source refers to. It is evaluated relative to the file in which it
 * was read.
 */
export type Reference =
  /** Refers to a concept of the file in which the reference was read, by its key. */
  | { readonly local: string }
  /** Refers to what a module exports by the name; with `name` null, to the module itself. */
  | { readonly module: string; readonly name: string | null }
  /** Refers to a member, by its name, of the namespace, class or value that `of` refers to. */
  | { readonly of: Reference; readonly member: string }
  | { readonly of: Reference; readonly step: Step }
  /** A name that nothing in the file declares. It is never resolved, but kept as information in the extracted data. */
  | { readonly name: string }

/** Whether a reference is only a name that nothing in its file declares. */
export function isUndeclared(reference: Reference): reference is { readonly name: string } {
  return 'name' in reference && !('module' in reference)
}

/**
 * A step from one value to another in a reference. `call`: the result of calling it. `instance`: a value of this class or type. `list`,
 * `map`, `function`: a value that holds, maps to, or returns values of this kind. `element`: what iterating over it gives.
 */
export type Step = 'call' | 'instance' | 'list' | 'map' | 'function' | 'element'

export interface FileReference {
  /** Key of the concept in this file from which the reference comes. */
  readonly source: string
  readonly relation: Relation
  readonly target: Reference
  readonly weight: number
}

/** Facts about a declaration that other files need to resolve their references through it. */
export interface Shape {
  /** For a class or interface: references to the types that it extends or implements. */
  readonly bases?: readonly Reference[]
  /** For a class or interface: the values of its members by name, methods included. */
  readonly members?: Readonly<Record<string, Reference>>
  /** For a function or method: reference to the value that a call returns. */
  readonly returns?: Reference
  /** For a type alias or constant: reference to the type or value that it names. */
  readonly value?: Reference
}

/**
 * Everything about a file that resolving references of other files may need. While it is unchanged, links from other files into this one
 * need not be resolved again.
 */
export interface Surface {
  readonly language: Language
  /** Keys of the concepts in the file; the first is the concept that represents the file itself. */
  readonly keys: readonly string[]
  /** Exported names and what each refers to. `default` and `export=` have the meanings of ECMAScript and CommonJS. */
  readonly exports: Readonly<Record<string, Reference>>
  /** Modules whose exports this file exports again as a whole (`export *`). */
  readonly stars: readonly string[]
  readonly shapes: Readonly<Record<string, Shape>>
  /** Name of the package to which the file says it belongs, in languages where several files form a package. */
  readonly package?: string
  /** Settings that the file contains if it is one that controls where modules are found (package.json, tsconfig.json, go.mod). */
  readonly settings?: ModuleSettings
  /** For Markdown: keys of the section concepts, by the anchor of their headings. */
  readonly anchors?: Readonly<Record<string, string>>
}

/** The parts of a package.json, tsconfig.json or go.mod that determine where modules are found. */
export interface ModuleSettings {
  readonly kind: 'package' | 'compiler' | 'go'
  readonly name?: string
  readonly entry?: readonly string[]
  readonly exports?: unknown
  readonly imports?: unknown
  readonly baseUrl?: string
  readonly paths?: Readonly<Record<string, readonly string[]>>
  readonly extends?: readonly string[]
  /** Paths of other tsconfig.json files that this one names under `references`. */
  readonly references?: readonly string[]
}

/** Version of the way in which files are read and stored; when it changes, all files are read again. */
export const READING_VERSION = 11

export interface Extraction {
  readonly path: string
  /** SHA-256 of the file's text; equal texts at one path give equal extractions. */
  readonly hash: string
  readonly concepts: readonly ReadConcept[]
  readonly references: readonly FileReference[]
  readonly surface: Surface
  /** Whether the parser found a syntax error in the file; whatever could be read is kept. */
  readonly hasErrors: boolean
}

/** Name used in a reference to a package when it is the package of the file itself. */
export const OWN_PACKAGE = '.'
/** Largest length of a concept's name, in characters. */
export const MAX_NAME = 200

/** Largest length of a file's text that is read, in characters; longer files are skipped. */
export const MAX_CHARACTERS = 10 * 1024 * 1024

/** Why a file was not read: its text is too long, reading it takes too long, or it declares more concepts than allowed. */
export interface Skip {
  readonly reason: 'too_large' | 'too_slow' | 'too_many'
}

interface LanguageFacts {
  /** Endings of file names in this language (without the dot), separated by blanks. */
  readonly endings: string
  /** Name of the tree-sitter grammar; absent for a language that is read without a grammar. */
  readonly grammar?: string
  /** Name of the language as shown to users, present only where calls in this language are not linked between files. */
  readonly unlinked?: string
}

const LANGUAGES = {
  typescript: { endings: 'ts mts cts', grammar: 'typescript' },
  tsx: { endings: 'tsx', grammar: 'tsx' },
  javascript: { endings: 'js mjs cjs jsx', grammar: 'javascript' },
  python: { endings: 'py pyi', grammar: 'python' },
  markdown: { endings: 'md markdown mdx' },
  go: { endings: 'go', grammar: 'go' },
  rust: { endings: 'rs', grammar: 'rust' },
  java: { endings: 'java', grammar: 'java' },
  c: { endings: 'c h', grammar: 'cpp', unlinked: 'C' },
  cpp: { endings: 'cc cpp cxx hh hpp hxx ipp', grammar: 'cpp', unlinked: 'C++' },
  csharp: { endings: 'cs', grammar: 'c-sharp', unlinked: 'C#' },
  ruby: { endings: 'rb rake gemspec', grammar: 'ruby', unlinked: 'Ruby' },
  php: { endings: 'php', grammar: 'php', unlinked: 'PHP' },
  json: { endings: 'json jsonc' },
  yaml: { endings: 'yaml yml' },
  toml: { endings: 'toml' },
  text: { endings: '' },
} as const satisfies Readonly<Record<string, LanguageFacts>>
export type Language = keyof typeof LANGUAGES
export type Grammar = Extract<(typeof LANGUAGES)[Language], { readonly grammar: string }>['grammar']

const BY_ENDING: ReadonlyMap<string, Language> = new Map(
  Object.entries(LANGUAGES).flatMap(([language, { endings }]) =>
    endings.split(' ').map(ending => [ending, language as Language] as const),
  ),
)

export function languageOf(path: string): Language {
  return BY_ENDING.get(endingOf(path)) ?? 'text'
}

/** Name of the tree-sitter grammar of a language; null where the language is read without a grammar. */
export function grammarOf(language: Language): Grammar | null {
  const facts = LANGUAGES[language]
  return 'grammar' in facts ? facts.grammar : null
}

/** Name of a file's language where calls in it are not linked between files; null where they are, or the file has no known language. */
export function unlinkedLanguage(path: string): string | null {
  const facts = LANGUAGES[languageOf(path)]
  return 'unlinked' in facts ? facts.unlinked : null
}

function endingOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? '' : name.slice(dot + 1).toLowerCase()
}
