/** `/body/fts/…` (CX-049): the texts of registered files, kept and searched. */
import type { JsonObject } from '../../../base/canonical.ts'
import { type Call, type Handler, mustNotBeCancelled } from '../call.ts'
import { inTurn, type Turn } from '../indexing/turn.ts'
import { ParamReader } from '../params.ts'
import { mustBeInitialised } from '../parts.ts'
import { readParams } from '../read-params.ts'
import { FLAG, NUMBER, TEXT } from '../schemas.ts'
import { mustHaveWorkspace } from '../workspace.ts'
import { indexText, type OwnFile, ownFiles } from './register.ts'

const DEFAULT_MATCHES = 100
const MOST_MATCHES = 1000
const SNIPPET = 240

const NOTHING = { indexed: 0, skipped: 0, deleted: 0, errors: 0 }

const index: Handler = {
  path: '/body/fts/index',
  summary: 'Keep the texts of registered files for search and previews',
  effect: 'write',
  params: { force: { ...FLAG, description: 'Read unchanged files again' } },
  async run(call, params) {
    const force = readParams(call, ['body'], params, reader => reader.flag('force'))
    // Whoever has no files does not wait for those who have.
    if (ownFiles(call).size === 0) return { result: NOTHING }
    return { result: (await inTurn(call, turn => indexAll(turn, force))).value }
  },
}

async function indexAll(turn: Turn, force: boolean): Promise<JsonObject> {
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

const search: Handler = {
  path: '/body/fts/search',
  summary: 'Search the texts of files by words',
  effect: 'read',
  params: {
    query: { ...TEXT, description: 'Words' },
    path: { ...TEXT, description: 'Only files whose path holds this' },
    limit: { ...NUMBER, description: 'How many at most' },
  },
  async run(call, params) {
    const reader = new ParamReader(params)
    const query = reader.text('query').trim()
    const path = reader.optionalText('path')
    const limit = reader.clamped('limit', DEFAULT_MATCHES, 1, MOST_MATCHES)
    reader.done()
    mustBeInitialised(call.host.store, 'body')
    const matches = await matchesOf(call, query, path)
    return { result: { matches: matches.slice(0, limit), total: matches.length } }
  },
}

export const TEXT_HANDLERS: readonly Handler[] = [index, search]

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
async function matchesOf(call: Call, query: string, path: string | null): Promise<readonly JsonObject[]> {
  const { host, state, viewer } = call
  const files = state.files.visible(host.sight(viewer).partitions)
  const matches: JsonObject[] = []
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
      viewer,
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
