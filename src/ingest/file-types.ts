/** Recognises file types by the file's extension or name. */

const LANGUAGES: Readonly<Record<string, string>> = {
  asm: 'assembly',
  awk: 'awk',
  bas: 'basic',
  bash: 'shell',
  bat: 'batch',
  c: 'c',
  cc: 'cpp',
  cfg: 'ini',
  cjs: 'javascript',
  clj: 'clojure',
  cmake: 'cmake',
  conf: 'ini',
  cpp: 'cpp',
  cs: 'csharp',
  css: 'css',
  cts: 'typescript',
  cxx: 'cpp',
  dart: 'dart',
  dockerfile: 'dockerfile',
  el: 'lisp',
  elm: 'elm',
  erl: 'erlang',
  ex: 'elixir',
  exs: 'elixir',
  f90: 'fortran',
  fs: 'fsharp',
  go: 'go',
  gradle: 'groovy',
  graphql: 'graphql',
  groovy: 'groovy',
  h: 'c',
  hpp: 'cpp',
  hs: 'haskell',
  ini: 'ini',
  java: 'java',
  jl: 'julia',
  js: 'javascript',
  json: 'json',
  json5: 'json',
  jsonc: 'json',
  jsx: 'javascript',
  kt: 'kotlin',
  kts: 'kotlin',
  less: 'less',
  lisp: 'lisp',
  lua: 'lua',
  m: 'objectivec',
  make: 'make',
  makefile: 'make',
  mjs: 'javascript',
  ml: 'ocaml',
  mts: 'typescript',
  nim: 'nim',
  nix: 'nix',
  php: 'php',
  pl: 'perl',
  pm: 'perl',
  proto: 'protobuf',
  ps1: 'powershell',
  py: 'python',
  pyi: 'python',
  r: 'r',
  rb: 'ruby',
  rs: 'rust',
  s: 'assembly',
  scala: 'scala',
  scm: 'lisp',
  scss: 'scss',
  sh: 'shell',
  sol: 'solidity',
  sql: 'sql',
  svelte: 'svelte',
  swift: 'swift',
  tcl: 'tcl',
  tf: 'terraform',
  toml: 'toml',
  ts: 'typescript',
  tsx: 'typescript',
  vb: 'basic',
  vue: 'vue',
  xml: 'xml',
  xsl: 'xml',
  yaml: 'yaml',
  yml: 'yaml',
  zig: 'zig',
  zsh: 'shell',
}

/** File extensions of images, audio, video, fonts, archives and programs; files with these are skipped without being opened. */
const MEDIA: ReadonlySet<string> = new Set(
  `7z a apk avi avif bin bmp bz2 class dll dmg doc dylib eot exe flac gif gz heic ico icns iso jar jpeg jpg lib lz4
   m4a mkv mov mp3 mp4 mpeg o obj ogg otf png ppt psd pyc rar so svg tar tgz tif tiff ttf wasm wav
   webm webp woff woff2 xls xz zip zst`.split(/\s+/),
)

/**
 * Programming language of a source file by its extension; null if it is not source code. Files without an extension are recognised by their
 * name (`Makefile`).
 */
export function languageOf(file: { readonly name: string; readonly extension: string }): string | null {
  const key = file.extension === '' ? file.name.toLowerCase() : file.extension
  return Object.hasOwn(LANGUAGES, key) ? (LANGUAGES[key] as string) : null
}

export function isMedia(extension: string): boolean {
  return MEDIA.has(extension)
}

/** The extension of a file name in lower case, without the dot; empty if the name has no dot except at its beginning. */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? '' : name.slice(dot + 1).toLowerCase()
}
