/** Which language a file is in, by its name; and why a file is not read at all. */
import type { Language } from './concept.ts'
import type { Grammar } from './grammars.ts'

/** Longer texts are left out. */
export const MAX_CHARACTERS = 10 * 1024 * 1024

export type SkipReason = 'too_large' | 'too_slow' | 'too_many'

export interface Skip {
  readonly path: string
  readonly reason: SkipReason
  /** For people: what and why in one line. */
  readonly message: string
}

const LANGUAGES: Readonly<Record<Language, string>> = {
  typescript: 'ts mts cts',
  tsx: 'tsx',
  javascript: 'js mjs cjs jsx',
  python: 'py pyi',
  markdown: 'md markdown mdx',
  go: 'go',
  rust: 'rs',
  java: 'java',
  c: 'c h',
  cpp: 'cc cpp cxx hh hpp hxx ipp',
  csharp: 'cs',
  ruby: 'rb rake gemspec',
  php: 'php',
  json: 'json jsonc',
  yaml: 'yaml yml',
  toml: 'toml',
  text: '',
}

const GRAMMARS: Partial<Record<Language, Grammar>> = {
  typescript: 'typescript',
  tsx: 'tsx',
  javascript: 'javascript',
  python: 'python',
  go: 'go',
  rust: 'rust',
  java: 'java',
  c: 'cpp',
  cpp: 'cpp',
  csharp: 'c-sharp',
  ruby: 'ruby',
  php: 'php',
}

const BY_ENDING: ReadonlyMap<string, Language> = new Map(
  Object.entries(LANGUAGES).flatMap(([language, endings]) =>
    endings.split(' ').map(ending => [ending, language as Language] as const),
  ),
)

export function languageOf(path: string): Language {
  return BY_ENDING.get(endingOf(path)) ?? 'text'
}

/** Null: read without a grammar. */
export function grammarOf(language: Language): Grammar | null {
  return GRAMMARS[language] ?? null
}

/** Languages of code whose calls are linked within one file alone, as people write them. */
const WITHIN_FILES: Partial<Record<Language, string>> = { c: 'C', cpp: 'C++', csharp: 'C#', ruby: 'Ruby', php: 'PHP' }

/** The name of the file's language where its calls are linked within the file alone; null: across files, or there are none. */
export function linkedWithinFiles(path: string): string | null {
  return WITHIN_FILES[languageOf(path)] ?? null
}

export function skip(path: string, reason: SkipReason, message: string): Skip {
  return { path, reason, message }
}

function endingOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? '' : name.slice(dot + 1).toLowerCase()
}
