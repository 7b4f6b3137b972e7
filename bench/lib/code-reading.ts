/**
 * Ways in which an agent comes to read the line that answers a question about code, and the tokens of all that it reads
 * until then. No way judges: each goes through what it is given in order, and gives up after the same number of reads.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { countTokens } from '../../src/text/count-tokens.ts'
import { isStopWord } from '../../src/text/stopwords.ts'
import { querent } from '../../test/support/command.ts'
import { filesBelow } from '../../test/support/extracted.ts'
import type { CodeQuestion } from './code-questions.ts'

/** Files read after a search; definitions and further answers asked for after a query. */
export const MAX_READS = 10
/** Room for texts in the answer to a query. */
export const MAX_TOKENS = 1_500
/** Files that the search tells of. */
const MAX_LISTED = 20
/** Lines shown before and after one that matches. */
const AROUND = 10

export interface Reading {
  readonly tokens: number
  /** Files or definitions read after the first answer. */
  readonly reads: number
  readonly found: boolean
}

export type CodeFiles = ReadonlyMap<string, string>

export function codeFiles(folder: string): CodeFiles {
  return new Map(filesBelow(folder, /\.ts$/).map(path => [path, readFileSync(join(folder, path), 'utf8')]))
}

/**
 * Searches for all words of the question at once, as `grep -ic` with alternatives: the files with most different words
 * come first, of those the ones with most lines. Then whole files are read, or only the lines around those that match.
 */
export function searchAndRead(files: CodeFiles, question: CodeQuestion, how: 'whole' | 'around'): Reading {
  const words = searchWords(question.text)
  const ranked = rank(files, words)
  const listing = ranked.slice(0, MAX_LISTED).map(({ path, lines }) => `${path}:${lines.length}`)
  let tokens = countTokens(listing.join('\n'))
  let reads = 0
  for (const { path, text, lines } of ranked.slice(0, MAX_READS)) {
    const shown = how === 'whole' ? text : linesAround(text, lines)
    tokens += countTokens(`${path}\n${shown}`)
    reads++
    if (path === question.path && isAnsweredBy(shown, question)) return { tokens, reads, found: true }
  }
  return { tokens, reads, found: false }
}

interface Match {
  readonly path: string
  readonly text: string
  readonly words: number
  /** Numbers of the lines with any of the words, from 0. */
  readonly lines: readonly number[]
}

function rank(files: CodeFiles, words: readonly string[]): readonly Match[] {
  const matches = [...files].map(([path, text]): Match => {
    const folded = `${path}\n${text}`.toLowerCase()
    const lines = text.toLowerCase().split('\n')
    return {
      ...{ path, text },
      words: words.filter(word => folded.includes(word)).length,
      lines: lines.flatMap((line, at) => (words.some(word => line.includes(word)) ? [at] : [])),
    }
  })
  return matches
    .filter(match => match.words > 0)
    .sort((a, b) => b.words - a.words || b.lines.length - a.lines.length || (a.path < b.path ? -1 : 1))
}

/** Words that say something, without the commonest endings, so that `dropped` finds `drop`. */
export function searchWords(text: string): readonly string[] {
  const words = (text.toLowerCase().match(/[\p{L}\d]{3,}/gu) ?? []).filter(word => !isStopWord(word, 'en'))
  return [
    ...new Set(
      words.map(word => word.replace(/(?<=.{3})(?:ing|ed|es|s)$/, '').replace(/([b-df-hj-np-tv-z])\1$/, '$1')),
    ),
  ]
}

function linesAround(text: string, matching: readonly number[]): string {
  const lines = text.split('\n')
  const shown = lines.map(() => false)
  for (const at of matching) shown.fill(true, Math.max(0, at - AROUND), at + AROUND + 1)
  return lines.filter((_, at) => shown[at]).join('\n')
}

/**
 * `querent context query` in a folder that is indexed, with the defaults of the command; then `definition` of each concept
 * of the table whose text was not in the answer, in the order of the table. Where that does not tell either, the same
 * question again with room for more, and so on.
 */
export async function askContext(folder: string, question: CodeQuestion, env: Environment): Promise<Reading> {
  const asked = new Set<string>()
  let tokens = 0
  let reads = 0
  /** Whether what is printed tells the answer. */
  const read = async (...args: readonly string[]) => {
    const printed = await runContext(folder, args, env)
    tokens += countTokens(printed)
    return { printed, found: isAnsweredBy(printed, question) }
  }
  for (const page of PAGES) {
    const answer = await read('query', question.text, ...page)
    if (answer.found) return { tokens, reads, found: true }
    for (const name of namesWithoutText(answer.printed)) {
      if (asked.has(name) || reads === MAX_READS) continue
      asked.add(name)
      reads++
      if ((await read('definition', name)).found) return { tokens, reads, found: true }
    }
    if (reads === MAX_READS) break
    reads++ // the next page
  }
  return { tokens, reads: Math.min(reads, MAX_READS), found: false }
}

/** How the question is asked, and asked again. */
const PAGES: readonly (readonly string[])[] = [
  ['--max-tokens', String(MAX_TOKENS)],
  ['--limit', '30', '--max-tokens', String(3 * MAX_TOKENS)],
]

/** What the command needs to know, such as `QUERENT_EMBEDDER`. */
export type Environment = Readonly<Record<string, string>>

export async function indexFolder(folder: string, env: Environment): Promise<string> {
  return await runContext(folder, ['index'], env)
}

/** What it prints, with the folder's name replaced by one of the same length everywhere. */
async function runContext(folder: string, args: readonly string[], env: Environment): Promise<string> {
  const { status, stdout, stderr } = await querent(['context', ...args], { cwd: folder, env })
  if (status !== 0) throw new Error(`context ${args.join(' ')}: ${stderr}`)
  return stdout.replaceAll(pathToFileURL(folder).href, 'file:///home/me/project')
}

function namesWithoutText(answer: string): readonly string[] {
  const [table = ''] = answer.split('\n\n')
  const whole = new Set([...answer.matchAll(/^## (\d+) /gm)].map(match => match[1]))
  const rows = table.split('\n').slice(1)
  const names = rows.flatMap(row => {
    const [id, name] = row.split('\t')
    return id === undefined || name === undefined || whole.has(id) ? [] : [name]
  })
  return [...new Set(names)]
}

function isAnsweredBy(text: string, { line }: CodeQuestion): boolean {
  return text.split('\n').some(read => read.trim() === line)
}
