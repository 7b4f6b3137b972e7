/**
 * What pages of the guide show is what happens: their commands and programs run and print it. Pages that need a server have tests
 * of their own. All of it runs on the oldest Node that the package supports too (QUERENT_TEST_NODE).
 */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { blocks, guidePage, pattern, printedBy, runSession } from '../support/guide-page.ts'
import { modelFolder } from '../support/model.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'

const NOTES = fileURLToPath(new URL('../../examples/notes', import.meta.url))

interface Page {
  readonly page: string
  /** Commands that it shows, at least; or programs. */
  readonly count: number
  readonly embedder?: 'none' | 'local'
  readonly prepare?: (folder: TempFolder) => void
}

const withNotes = (folder: TempFolder): void => cpSync(NOTES, folder.file('notes'), { recursive: true })

/** The files that the page about code shows. */
function withCode(folder: TempFolder): void {
  for (const [, name = '', text = ''] of guidePage('context.md').matchAll(/```ts (\S+)\n([\s\S]*?)```/g)) {
    mkdirSync(dirname(folder.file(name)), { recursive: true })
    writeFileSync(folder.file(name), text)
  }
  // The tools of the test are no part of the project.
  writeFileSync(folder.file('.querentignore'), '/*\n!/src\n')
}

function withPlugin(folder: TempFolder): void {
  mkdirSync(folder.file('plugins'))
  writeFileSync(folder.file('plugins/port_enrichment.js'), blocks(guidePage('enrichment.md'), 'js')[0] ?? '')
}

const SESSIONS: readonly Page[] = [
  { page: 'assistants.md', count: 6, prepare: withNotes },
  { page: 'beliefs-aggregates.md', count: 2, embedder: 'local' },
  { page: 'beliefs.md', count: 21, embedder: 'local' },
  { page: 'c64.md', count: 2 },
  { page: 'chroma.md', count: 9 },
  { page: 'cli.md', count: 9, prepare: withNotes },
  { page: 'collections.md', count: 11, embedder: 'local' },
  { page: 'context.md', count: 7, prepare: withCode },
  { page: 'conversations.md', count: 19 },
  { page: 'deleting.md', count: 7 },
  { page: 'five-minutes.md', count: 7, embedder: 'local', prepare: withNotes },
  { page: 'mcp.md', count: 3 },
  { page: 'when-something-goes-wrong.md', count: 10 },
]

async function envOf(folder: TempFolder, embedder: 'none' | 'local' = 'none'): Promise<Record<string, string>> {
  const model = embedder === 'local' ? { QUERENT_EMBEDDER_FOLDER: await modelFolder() } : {}
  return { HOME: folder.path, QUERENT_EMBEDDER: embedder, ...model }
}

/** Standard output and standard error of the commands of c64 meet in any order; scores follow the machine's arithmetic. */
function settled(page: string, text: string): string {
  if (page !== 'c64.md') return text
  const lines = text.replace(/score=0\.\d+/g, 'score=…').split('\n')
  return lines.filter(Boolean).sort().join('\n')
}

describe('the commands', () => {
  it.each(SESSIONS)('of $page print what it shows (EN-070, EN-072)', async one => {
    const { page, count, embedder, prepare } = one
    using folder = tempFolder()
    prepare?.(folder)
    const steps = await runSession(guidePage(page), folder.path, await envOf(folder, embedder))
    for (const { command, shown, printed } of steps) {
      expect(settled(page, printed), `$ ${command}`).toMatch(pattern(settled(page, shown)))
    }
    expect(steps.length).toBeGreaterThanOrEqual(count)
  })
})

describe('the programs', () => {
  const PROGRAMS: readonly Page[] = [
    { page: 'beliefs.md', count: 1, embedder: 'local' },
    { page: 'c64.md', count: 1 },
    { page: 'chroma.md', count: 1 },
    { page: 'collections.md', count: 1, embedder: 'local' },
    { page: 'context.md', count: 1, prepare: withCode },
    { page: 'enrichment.md', count: 4, prepare: withPlugin },
    { page: 'lenses.md', count: 1 },
    { page: 'library.md', count: 5 },
    { page: 'query-profiles.md', count: 5 },
  ]

  it.each(PROGRAMS)('of $page print what it shows (EN-076, EN-077, CQ-148, QE-020)', async one => {
    const { page, count, embedder, prepare } = one
    const prints = blocks(guidePage(page), 'text')
    const programs = blocks(guidePage(page), 'ts').slice(0, Math.max(count, prints.length))
    expect(programs.length).toBeGreaterThanOrEqual(count)
    const zod = `'${import.meta.resolve('zod')}'`
    // Those of the library go on with the store of the one before.
    using shared = tempFolder()
    for (const [at, program] of programs.entries()) {
      using own = tempFolder()
      const folder = page === 'library.md' ? shared : own
      prepare?.(folder)
      if (page === 'context.md') mkdirSync(folder.file('.querent'))
      const env = embedder === undefined ? {} : await envOf(folder, embedder)
      expect(await printedBy(program.replace("'zod'", zod), folder.path, `program-${at}.ts`, env)).toBe(prints[at])
    }
  })
})
