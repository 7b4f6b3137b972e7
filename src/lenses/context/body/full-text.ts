/** `/body/fts/…` (CX-049): the texts of registered files, kept and searched. */
import { z } from 'zod'
import { type Call, handler, mustNotBeCancelled } from '../call.ts'
import { inTurn, type Turn } from '../indexing/turn.ts'
import { clamped, flag, text, total } from '../schemas.ts'
import { mustHaveWorkspace } from '../workspace.ts'
import { indexText, type OwnFile, ownFiles } from './register.ts'

const DEFAULT_MATCHES = 100
const MOST_MATCHES = 1000
const SNIPPET = 240

const NOTHING = { indexed: 0, skipped: 0, deleted: 0, errors: 0 }

const index = handler({
  path: '/body/fts/index',
  summary: 'Keep the texts of registered files for search and previews',
  effect: 'write',
  needs: ['body'],
  params: () => z.object({ force: flag.describe('Read unchanged files again. Default: false') }),
  result: () =>
    z.strictObject({
      indexed: total.describe('Files whose text was kept'),
      skipped: total.describe('Unchanged, too large or binary files'),
      deleted: total.describe('Files whose text was removed'),
      errors: total.describe('Files that could not be read'),
    }),
  async run(call, { force }) {
    // Whoever has no files does not wait for those who have.
    if (ownFiles(call).size === 0) return { result: NOTHING }
    return { result: (await inTurn(call, turn => indexAll(turn, force))).value }
  },
})

async function indexAll(turn: Turn, force: boolean): Promise<typeof NOTHING> {
  const { call } = turn
  const files = [...ownFiles(call).values()]
  const counts = { ...NOTHING }
  for (const [at, file] of files.entries()) {
    mustNotBeCancelled(call)
    counts[await indexOne(turn, file, force)]++
    call.emit({ phase: 'text', current: at + 1, total: files.length, message: file.url })
  }
  return counts
}

const search = handler({
  path: '/body/fts/search',
  summary: 'Search the texts of files by words',
  effect: 'read',
  needs: ['body'],
  first: ['query', 'path', 'limit'],
  params: () =>
    z.object({
      query: text.describe('Words that a file must hold some of; no operators'),
      path: text.nullish().describe('Only files whose URL holds this text. Default: all files'),
      limit: clamped('Most matches', DEFAULT_MATCHES, 1, MOST_MATCHES),
    }),
  result: () =>
    z.strictObject({
      matches: z.array(textMatch).describe('Best first'),
      total: total.describe(`Matches there are, ${MOST_MATCHES} at most`),
    }),
  async run(call, { query, path = null, limit }) {
    const matches = await matchesOf(call, query.trim(), path)
    return { result: { matches: matches.slice(0, limit), total: matches.length } }
  },
})

const textMatch = z.lazy(() =>
  z.strictObject({
    url: z.string().describe('URL of the file'),
    snippet: z.string().describe('Its best passage; words that were found stand between >>> and <<<'),
    score: z.number().describe('As that of a query by words: higher is better'),
  }),
)

export const TEXT_HANDLERS = [index, search] as const

async function indexOne(
  { call, write }: Turn,
  file: OwnFile,
  force: boolean,
): Promise<'indexed' | 'skipped' | 'errors'> {
  if (!force && file.indexedHash === file.hash) return 'skipped'
  const read = await mustHaveWorkspace(call).read(file.url)
  if (!read.ok) return read.code === 'too_large' ? 'skipped' : 'errors'
  const { text, hash } = read
  if (text === null) return 'skipped'
  await write(writer => indexText(writer, call, file, text, hash))
  return 'indexed'
}

/** Best first. */
async function matchesOf(
  call: Call,
  query: string,
  path: string | null,
): Promise<readonly z.infer<typeof textMatch>[]> {
  const { host, state, viewer } = call
  const files = state.files.visible(host.sight(viewer).partitions)
  const matches: z.infer<typeof textMatch>[] = []
  for (let cursor: string | null | undefined; matches.length < MOST_MATCHES; ) {
    const { page } = await host.query(
      {
        text: query,
        syntax: 'plain',
        lens: 'default',
        mode: 'words',
        filter: { kinds: ['code'] },
        any: true,
        touch: false,
        memory: false,
        limit: 100,
        excerpt_length: SNIPPET,
        ...(cursor ? { cursor } : {}),
      },
      call,
    )
    for (const { origin, excerpt, score } of page.items) {
      const isWanted = origin !== null && files.byUrl(origin) !== undefined && origin.includes(path ?? '')
      if (isWanted && excerpt.highlights.length > 0) {
        matches.push({ url: origin, snippet: marked(excerpt.text, excerpt.highlights), score })
      }
    }
    cursor = page.cursor
    if (cursor === null) break
  }
  return matches
}

function marked(text: string, spans: readonly (readonly [number, number])[]): string {
  let at = 0
  let told = ''
  for (const [start, end] of spans) {
    told += `${text.slice(at, start)}>>>${text.slice(start, end)}<<<`
    at = end
  }
  return told + text.slice(at)
}
