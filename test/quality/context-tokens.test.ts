/** What an agent reads until it knows: the questions, and the ways of reading on a small folder. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type CodeQuestion, namesItself, QUESTIONS } from '../../bench/lib/code-questions.ts'
import { askContext, codeFiles, indexFolder, searchAndRead, searchWords } from '../../bench/lib/code-reading.ts'
import { tokensPage } from '../../bench/lib/tokens-page.ts'
import { countTokens } from '../../src/text/count-tokens.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'

describe('the questions of docs/context-tokens.md', () => {
  const files = codeFiles(fileURLToPath(new URL('../../src', import.meta.url)))

  it.each(QUESTIONS)('$text: the line that answers stands once, in what the symbol is', ({ path, symbol, line }) => {
    const places = [...files].flatMap(([file, text]) =>
      text.split('\n').flatMap(found => (found.trim() === line ? [file] : [])),
    )
    expect(places).toEqual([path])
    const before = (files.get(path) as string).split(line)[0] as string
    expect(`${before}${line}`).toMatch(new RegExp(`(?:function\\*?|class|const) ${symbol}\\b`))
  })

  it('stand on the page with what each way of reading them cost', () => {
    const page = readFileSync(new URL('../../docs/context-tokens.md', import.meta.url), 'utf8')
    const rows = page.split('\n').filter(row => row.startsWith('| ') && row.includes('?'))
    expect(rows.map(row => row.split(' | ')[0]?.replace(/^\| | \*$/g, ''))).toEqual(QUESTIONS.map(({ text }) => text))
    expect(rows.every(row => /(?: \| (?:\*no\* )?\d+ \(\d+\)){4} \|$/.test(row))).toBe(true)
  })

  it('are twenty different ones; at most a third has a word of the name that answers', () => {
    expect(new Set(QUESTIONS.map(({ text }) => text)).size).toBe(20)
    expect(QUESTIONS.filter(namesItself).length).toBeLessThanOrEqual(20 / 3)
    expect(QUESTIONS.filter(namesItself).map(({ symbol }) => symbol)).toContain('openCursor')
  })
})

const SMALL = {
  'lamp.ts':
    'import { Socket } from "./socket.ts"\n\nexport function lampOf(socket: Socket) {\n  return socket.bulb\n}\n',
  'socket.ts': `/** Where a lamp goes. */\nexport class Socket {\n  readonly bulb = 'bright'\n}\n${filler(40)}`,
  'garden/hose.ts': `export function spray(water: number) {\n  return water * 2\n}\n${filler(40)}`,
}

const about = (text: string, path: string, line: string): CodeQuestion => ({ text, path, line, symbol: 'any' })
const LAMP = about('Which bulb does a lamp have in its socket?', 'socket.ts', "readonly bulb = 'bright'")
const NOWHERE = about('Where are lamps mended?', 'mend.ts', 'mend()')

describe('searching and reading', () => {
  const files = new Map(Object.entries(SMALL))

  it('reads whole files, those with most different words first, until the line has been read', () => {
    // lamp.ts has all three words, as has socket.ts, on fewer lines.
    const listing = countTokens('lamp.ts:4\nsocket.ts:3')
    const lamp = countTokens(`lamp.ts\n${SMALL['lamp.ts']}`)
    const socket = countTokens(`socket.ts\n${SMALL['socket.ts']}`)
    expect(searchAndRead(files, LAMP, 'whole')).toEqual({ tokens: listing + lamp + socket, reads: 2, found: true })
  })

  it('reads less around the lines that match, and still finds it', () => {
    const [whole, around] = [searchAndRead(files, LAMP, 'whole'), searchAndRead(files, LAMP, 'around')]
    expect(around).toMatchObject({ reads: 2, found: true })
    expect(around.tokens).toBeLessThan(whole.tokens)
  })

  it('says that it did not find what it was not given', () => {
    expect(searchAndRead(files, NOWHERE, 'whole')).toMatchObject({ reads: 2, found: false })
    expect(searchAndRead(new Map(), LAMP, 'whole')).toEqual({ tokens: 0, reads: 0, found: false })
  })

  it('looks for words that say something, without their endings', () => {
    expect(searchWords('Where is what dropped from the sockets?')).toEqual(['drop', 'socket'])
  })
})

describe('asking the lens context by its command', () => {
  it('reads the answer, and definitions where it is not in it', { timeout: 60_000 }, async () => {
    using folder = folderOf(SMALL)
    const env = { QUERENT_EMBEDDER: 'none' }
    expect(await indexFolder(folder.path, env)).toContain('3 files read')
    const inAnswer = await askContext(folder.path, LAMP, env)
    expect(inAnswer).toMatchObject({ reads: 0, found: true })
    expect(inAnswer.tokens).toBeGreaterThan(20)
    const nowhere = await askContext(folder.path, NOWHERE, env)
    expect(nowhere).toMatchObject({ found: false })
    expect(nowhere.reads).toBeGreaterThan(0)
    const page = tokensPage(
      [LAMP, NOWHERE],
      [{ name: 'context', readings: [inAnswer, nowhere] }],
      codeFiles(folder.path),
    )
    expect(page).toContain(`| \`any\` | ${inAnswer.tokens} (0) |\n`)
    expect(page).toContain('| **found** | | 1 of 2 |')
    expect(page).toContain(`| *no* ${nowhere.tokens} (`)
  })
})

function filler(lines: number): string {
  return Array.from({ length: lines }, (_, at) => `export const value${at} = ${at}\n`).join('')
}

function folderOf(files: Readonly<Record<string, string>>): TempFolder {
  const folder = tempFolder()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder.path, path)), { recursive: true })
    writeFileSync(join(folder.path, path), text)
  }
  return folder
}
