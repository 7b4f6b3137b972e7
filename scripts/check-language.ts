/**
 * Checks the language of the project: names that files declare, comments, messages, help and documentation. Reports each
 * finding as file:line, and pages and modules whose sentences are too long on average.
 *   npm run -s language
 */
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EXCEPTIONS, MAX_EXCEPTIONS, NAMES, PHRASES, type Rule, UNCHECKED } from './language.ts'
import { averageLength, helpOf, MAX_AVERAGE, proseOf } from './prose.ts'

interface Finding {
  readonly file: string
  readonly line: number
  readonly found: string
  readonly advice: string
}

const root = fileURLToPath(new URL('..', import.meta.url))

/** The rules themselves name what they forbid, and so does their test. */
const RULES = ['scripts/language.ts', 'test/scripts/check-language.test.ts']

const isChecked = (file: string): boolean =>
  !RULES.includes(file) && !UNCHECKED.some(({ path }) => file === path || file.startsWith(`${path}/`))

const glob = (...patterns: readonly string[]): readonly string[] =>
  globSync([...patterns], { cwd: root })
    .filter(file => !file.includes('node_modules'))
    .filter(isChecked)
    .sort()

/** Files of code: their names, comments and texts are checked. */
const code = glob('src/**/*.ts', 'scripts/**/*.{ts,mjs}', 'test/**/*.ts', 'bench/**/*.ts', 'explorer/src/**/*.{ts,tsx}')
const pages = glob('*.md', 'docs/**/*.md')

/** Names that the text declares, with the line of each. */
export function declaredNames(text: string): readonly { readonly name: string; readonly line: number }[] {
  const names: { name: string; line: number }[] = []
  for (const [at, line] of text.split('\n').entries()) {
    for (const [, name = ''] of line.matchAll(DECLARATION)) names.push({ name, line: at + 1 })
  }
  return names
}

const DECLARATION = /\b(?:const|let|function\*?|class|interface|type)\s+([A-Za-z_$][\w$]*)/g

/** `MAX_NAMED` and `maxNamed` as `max_named`. */
export function snakeCase(name: string): string {
  return name.replaceAll(/([a-z\d])([A-Z])/g, '$1_$2').toLowerCase()
}

export function findPhrases(file: string, text: string): readonly Finding[] {
  return text
    .split('\n')
    .flatMap((line, at) =>
      PHRASES.flatMap(({ pattern, advice }) =>
        [...line.matchAll(new RegExp(pattern, 'gi'))].map(([found]) => ({ file, line: at + 1, found, advice })),
      ),
    )
}

export function findNames(file: string, text: string): readonly Finding[] {
  const own = { name: basename(file).replace(/\..*$/, '').replaceAll('-', '_'), line: 1 }
  return [own, ...declaredNames(text)].flatMap(({ name, line }) => {
    const rule = NAMES.find(({ pattern }: Rule) => new RegExp(pattern).test(snakeCase(name)))
    return rule === undefined ? [] : [{ file, line, found: name, advice: rule.advice }]
  })
}

/** Of a test, the lines that hold a title or a comment, in their places: all other text is data. */
export function titlesAndComments(text: string): string {
  const lines = text.split('\n')
  return lines
    .map((line, at) => (COMMENT.test(line) || TITLE.test(line) || TITLE_OPENS.test(lines[at - 1] ?? '') ? line : ''))
    .join('\n')
}

const COMMENT = /^\s*(?:\/\*|\*)|\/\/ /
const TITLE = /^\s*(?:(?:describe|it)(?:\.\w+)*(?:\(.*\))?\(|\](?: as const)?\)\()['`]/
const TITLE_OPENS = /^\s*(?:(?:describe|it)(?:\.\w+)*(?:\(.*\))?|\](?: as const)?\))\($/

function isExcepted({ file, found }: Finding): boolean {
  return EXCEPTIONS.some(exception => exception.file === file && exception.found.toLowerCase() === found.toLowerCase())
}

function check(): readonly string[] {
  const textOf = (file: string): string => readFileSync(`${root}${file}`, 'utf8')
  const found = [
    ...code.flatMap(file => {
      const text = textOf(file)
      return [...findNames(file, text), ...findPhrases(file, file.startsWith('test/') ? titlesAndComments(text) : text)]
    }),
    ...pages.flatMap(file => findPhrases(file, textOf(file))),
  ]
  const unused = EXCEPTIONS.filter(
    ({ file, found: text }) => !found.some(one => one.file === file && one.found.toLowerCase() === text.toLowerCase()),
  )
  const texts = [
    ...pages.map(file => ({ file, sentences: proseOf(textOf(file)) })),
    ...code.filter(file => file.startsWith('src/')).map(file => ({ file, sentences: helpOf(textOf(file)) })),
  ]
  const long = texts.flatMap(({ file, sentences }) => {
    const average = averageLength(sentences)
    return average < MAX_AVERAGE ? [] : [`${file}: ${average.toFixed(1)} words a sentence, at most ${MAX_AVERAGE}`]
  })
  return [
    ...found
      .filter(one => !isExcepted(one))
      .map(({ file, line, found, advice }) => `${file}:${line}: ${found}: ${advice}`),
    ...long,
    ...unused.map(({ file, found }) => `scripts/language.ts: the exception ${found} in ${file} is not needed`),
    ...(EXCEPTIONS.length > MAX_EXCEPTIONS ? [`scripts/language.ts: more than ${MAX_EXCEPTIONS} exceptions`] : []),
  ]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = check()
  for (const problem of problems) console.log(problem)
  process.exitCode = problems.length === 0 ? 0 : 1
}
