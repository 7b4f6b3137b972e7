/** Which language a file is in, by its name; and why a file is not read at all. */
import type { Language } from './concept.ts'
import type { Grammar } from './grammars.ts'

/** Larger files are left out. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024

export type SkipReason = 'too_large' | 'binary' | 'not_utf8' | 'media' | 'too_slow' | 'too_many'

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

const MEDIA: ReadonlySet<string> = new Set(
  (
    'png jpg jpeg gif bmp ico webp avif tif tiff psd svgz mp3 mp4 m4a ogg oga ogv wav flac avi mov mkv webm woff woff2 ttf otf eot ' +
    'zip gz tgz bz2 xz zst 7z rar tar jar war whl egg nupkg dmg iso exe dll so dylib a o obj lib class pyc pyo wasm bin dat db ' +
    'sqlite sqlite3 parquet onnx safetensors pt pth npy npz pdf doc docx xls xlsx ppt pptx odt ods'
  ).split(' '),
)

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

/** Null: fit to be read. By size and name alone, before the file is read. */
export function skipByName(path: string, bytes: number): Skip | null {
  if (MEDIA.has(endingOf(path))) return skip(path, 'media', 'an archive, a picture, sound or another file without text')
  return bytes > MAX_FILE_BYTES ? skip(path, 'too_large', `${bytes} bytes; at most ${MAX_FILE_BYTES} are read`) : null
}

/** The text of a file, or why there is none: a zero byte in the first 8 KiB, or bytes that are not UTF-8. */
export function decodeSource(path: string, bytes: Uint8Array): string | Skip {
  const named = skipByName(path, bytes.length)
  if (named !== null) return named
  if (bytes.subarray(0, 8192).includes(0)) return skip(path, 'binary', 'a zero byte among the first 8 KiB')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return skip(path, 'not_utf8', 'the bytes are not UTF-8')
  }
}

export function skip(path: string, reason: SkipReason, message: string): Skip {
  return { path, reason, message }
}

function endingOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? '' : name.slice(dot + 1).toLowerCase()
}
