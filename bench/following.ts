/**
 * Files that are kept up to date (QE-012): what a query over the command line pays for looking whether any of 5,000 added files has
 * changed, and how long an edit of one of 500 files takes to be in the answers of `querent serve`.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openEngine } from '../src/engine/open.ts'
import { seededUniform } from '../test/support/seeded.ts'
import { startServer } from '../test/support/serving.ts'
import { tempFolder } from '../test/support/temp-folder.ts'
import { quick } from './lib/quick.ts'
import { latency, type Row, timedAsync } from './lib/report.ts'

export const name = 'following'

const LOOKS = quick ? 3 : 40
const EDITS = quick ? 2 : 30
const LOOKED_AT = quick ? 200 : 5_000
const SERVED = quick ? 50 : 500
const FOLDER_FILES = 50
const POLL_MS = 20
/** Between an answer and the next edit, at random: longer than the server rests between two looks. */
const MAX_PAUSE_MS = 4_000

export async function run(): Promise<readonly Row[]> {
  return [await look(), await editToAnswer()]
}

/** `sync` that only looks: what `query` does before it answers. Folders and rows are in the caches of disk and process. */
async function look(): Promise<Row> {
  using folder = tempFolder()
  const notes = writeNotes(folder.path, LOOKED_AT)
  await using engine = await openEngine({ home: join(folder.path, 'home'), embedder: 'none', background: false })
  await engine.add({ paths: [notes] })
  const looking = () => timedAsync(() => engine.sync({ dry_run: true }))
  await looking()
  const times: number[] = []
  for (let round = 0; round < LOOKS; round++) times.push(await looking())
  return withGoal(latency(`look whether any of ${LOOKED_AT} added files has changed`, times), 50)
}

async function editToAnswer(): Promise<Row> {
  using folder = tempFolder()
  const notes = writeNotes(folder.path, SERVED)
  const env = { QUERENT_HOME: join(folder.path, 'home'), QUERENT_EMBEDDER: 'none' }
  const server = await startServer(['serve', notes], folder.path, env)
  try {
    const isFound = async (text: string): Promise<boolean> => {
      const response = await fetch(`${server.url}/v1/ops/query`, { method: 'POST', body: JSON.stringify({ text }) })
      return ((await response.json()) as { readonly items: readonly object[] }).items.length > 0
    }
    const times: number[] = []
    const random = seededUniform(1)
    for (let round = 0; round < EDITS; round++) {
      await pause(random() * MAX_PAUSE_MS)
      const word = `zephyr${round}`
      const edit = async (): Promise<void> => {
        writeFileSync(join(notes, pathOf((round * 37) % SERVED)), `# Note\n\nThe word is ${word}.\n`)
        while (!(await isFound(word))) await pause(POLL_MS)
      }
      times.push(await timedAsync(edit))
    }
    return withGoal(latency(`from an edit of one of ${SERVED} served files to an answer that has it`, times), 2_000)
  } finally {
    await server.end()
  }
}

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

const withGoal = (row: Row & { readonly p50: number }, limit: number): Row => ({
  ...row,
  goal: `p50 <= ${limit} ms`,
  ok: row.p50 <= limit,
})

const pathOf = (at: number): string => join(`folder-${Math.floor(at / FOLDER_FILES)}`, `note-${at}.md`)

function writeNotes(folder: string, count: number): string {
  const notes = join(folder, 'notes')
  for (let at = 0; at < count; at++) {
    const path = join(notes, pathOf(at))
    if (at % FOLDER_FILES === 0) mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, `# Note ${at}\n\nNumber ${at} of ${count} notes, in a folder of ${FOLDER_FILES}.\n`)
  }
  return notes
}
