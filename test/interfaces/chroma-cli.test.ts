/** `querent chroma …` (CQ-121): what is printed where, and the exit code. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { HASHTAGS, nodeOf } from '../support/chroma-nodes.ts'
import type { Run } from '../support/command.ts'
import { querentHere } from '../support/in-process.ts'

const NOW = '2026-03-01T12:00:00Z'
const SECONDS = Date.parse(NOW) / 1000
const DAY = 86_400
const PYTHON = HASHTAGS.python.join(',')
const SUBCOMMANDS =
  'query batch store get update delete suggest assign migrate hashtags decay lifecycle stats export import'.split(' ')

interface More {
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

let folder = ''

function chroma(args: readonly string[], { stdin, env, cwd = folder }: More = {}): Promise<Run> {
  return querentHere(['chroma', ...args], { cwd, stdin, env: { QUERENT_NOW: NOW, ...env } })
}

/** One JSON document on standard output, nothing on standard error, exit code 0. */
// biome-ignore lint/suspicious/noExplicitAny: documents of many shapes, read in expectations only
async function answer(args: readonly string[], more?: More): Promise<any> {
  const { status, stdout, stderr } = await chroma([...args, '--json'], more)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return JSON.parse(stdout)
}

/** Nothing on standard output, one JSON error on standard error. */
// biome-ignore lint/suspicious/noExplicitAny: as above
async function failure(args: readonly string[], exitCode: number, more: More = {}): Promise<any> {
  const { status, stdout, stderr } = await chroma([...args, '--json'], more)
  expect({ status, stdout }).toEqual({ status: exitCode, stdout: '' })
  return JSON.parse(stderr).error
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'querent-chroma-cli-'))
  const { assigned } = await answer(['assign', '--starter'])
  expect(assigned.length).toBeGreaterThan(500)
  const nodes = [
    nodeOf('fresh', HASHTAGS.python, { created_at: SECONDS - DAY, metadata: { year: 2024 } }),
    nodeOf('old', HASHTAGS.python, { created_at: SECONDS - 60 * DAY, strength_raw: 1 }),
    nodeOf('far', HASHTAGS.database, { created_at: SECONDS - 10 * DAY }),
  ]
  writeFileSync(join(folder, 'nodes.json'), JSON.stringify({ version: 1, nodes }))
  expect(await answer(['import', 'nodes.json'])).toEqual({ imported: 3 })
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

const dry = ['--no-access']

describe('the subcommands', () => {
  it('are those of the contract (CQ-121)', async () => {
    const { status, stdout } = await chroma(['--help'])
    expect(status).toBe(0)
    const listed = [...stdout.matchAll(/^ {2}([a-z]+) \[options\]/gm)].map(match => match[1])
    expect(SUBCOMMANDS.filter(name => !listed.includes(name))).toEqual([])
  })

  it('end with 2 without what they need (CQ-121)', async () => {
    for (const args of [['batch'], ['store'], ['get'], ['update', 'far'], ['migrate', '#python'], ['nonsense'], []]) {
      const { status, stdout, stderr } = await chroma(args)
      expect({ args, status, stdout }).toEqual({ args, status: 2, stdout: '' })
      expect(stderr).not.toBe('')
    }
  })
})

describe('query', () => {
  it('finds by hashtags and by a text, by score, with 0 (CQ-121)', async () => {
    const { results, query } = await answer(['query', ...HASHTAGS.python, '-k', '2', ...dry])
    // biome-ignore lint/suspicious/noExplicitAny: as above
    expect(results.map((row: any) => row.entry_id)).toEqual(['fresh', 'old'])
    expect(query).toMatchObject({ k: 2, update_access: false, now: SECONDS })
    const same = { results, query, verdict: 'answered', reason: null, warnings: [] }
    expect(await answer(['query', '--tags', PYTHON, '-k', '2', ...dry])).toEqual(same)
    const byText = await answer(['query', 'top 1 python asyncio', ...dry])
    expect(byText.results).toMatchObject([{ entry_id: 'fresh' }])
  })

  it('takes every option (CQ-121)', async () => {
    const { query } = await answer([
      ...['query', '--tags', PYTHON, '-k', '7', '--max-distance', '12.5', '--from', '2026-01-01', '--to', '1772366400'],
      ...['--filter', '{"year":{"$gte":2020}}', '--include-rotten', '--weights', '0.5,0.25,0.25'],
      ...['--profile', 'code_search', '--no-complete', ...dry],
    ])
    expect(query).toMatchObject({
      k: 7,
      max_distance: 12.5,
      temporal_range: [Date.parse('2026-01-01') / 1000, 1_772_366_400],
      metadata_filters: { year: { $gte: 2020 } },
      include_rotten: true,
      score_weights: { relevance: 0.5, recency: 0.25, strength: 0.25 },
      profile: 'code_search',
    })
    expect((await answer(['query', '--knn', '--tags', PYTHON, '-k', '1', ...dry])).results).toHaveLength(1)
  })

  it('without results is no failure (CQ-121, CQ-073)', async () => {
    const { results, warnings } = await answer(['query', '--tags', HASHTAGS.web.join(','), '--max-distance', '0.001'])
    expect({ results, codes: warnings.length }).toEqual({ results: [], codes: 1 })
    const { status, stdout } = await chroma(['query', '--tags', HASHTAGS.web.join(' '), '--max-distance', '0.001'])
    expect({ status, first: stdout.split('\n')[0] }).toEqual({ status: 0, first: 'no nodes found' })
  })

  it('that is wrong ends with 2 (CQ-121)', async () => {
    expect(await failure(['query', '#python'], 2, { env: {} })).toMatchObject({
      type: 'ValidationError',
      code: 'invalid_hashtags',
      // CQ-036: in the words of the interface.
      message: expect.stringContaining('missing: 6 Mid, 1 Outer; querent chroma suggest finds assigned tags'),
    })
    expect(await failure(['query', '#nobody'], 2)).toMatchObject({ type: 'UnknownHashtagError' })
    expect(await failure(['query', 'python', '--profile', 'none'], 2)).toMatchObject({ code: 'unknown_profile' })
    expect(await failure(['query', 'python', '-k', '0'], 2)).toMatchObject({ code: 'invalid_parameter' })
    expect(await failure(['query', 'python', '--filter', '{'], 2)).toMatchObject({ code: 'invalid_json' })
    for (const weights of ['1,0', '1,,0', '1,0,0,0']) {
      expect(await failure(['query', 'python', '--weights', weights], 2)).toMatchObject({ code: 'invalid_argument' })
    }
    expect(await failure(['query', '|a|b', '--profile', 'knowledge_patch'], 2)).toMatchObject({
      type: 'QueryProfileError',
    })
    const { status, stdout, stderr } = await chroma(['query', '#python'])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^querent: hashtags: .*missing: 6 Mid, 1 Outer/)
  })

  it('reads the clock that --now sets, and asks for --viewer (CQ-121)', async () => {
    const later = await answer(['query', '--tags', PYTHON, '--now', '2026-05-01T00:00:00Z', ...dry])
    expect(later.query.now).toBe(Date.parse('2026-05-01T00:00:00Z') / 1000)
    expect((await answer(['query', '--tags', PYTHON, '--viewer', 'ana'])).results).toEqual([])
    expect(await failure(['migrate', '#stdlib', 'mid', '--viewer', 'ana'], 1)).toMatchObject({ code: 'denied' })
  })

  it('gives the rows of `call` (CQ-122)', async () => {
    const input = { hashtags: HASHTAGS.python, update_access: false }
    const run = await querentHere(['call', 'chroma.query', JSON.stringify(input)], {
      cwd: folder,
      env: { QUERENT_NOW: NOW },
    })
    expect(JSON.parse(run.stdout)).toEqual(await answer(['query', ...HASHTAGS.python, ...dry]))
  })
})

describe('batch', () => {
  const queries = JSON.stringify([
    { hashtags: HASHTAGS.python, k: 1, update_access: false },
    { input: 'sqlite databases', k: 1, update_access: false },
  ])

  it('reads a file and standard input (CQ-121)', async () => {
    writeFileSync(join(folder, 'queries.json'), queries)
    const { answers } = await answer(['batch', 'queries.json'])
    expect(answers).toMatchObject([{ results: [{ entry_id: 'fresh' }] }, { results: [{ entry_id: 'far' }] }])
    expect((await answer(['batch', '-'], { stdin: queries })).answers).toEqual(answers)
  })

  it('that is wrong ends with 2, a file that is not there with 1 (CQ-121)', async () => {
    const wrong = await failure(['batch', '-'], 2, { stdin: '[{"input":"python"},{"input":"python","kk":1}]' })
    expect(wrong).toMatchObject({ type: 'ValidationError', details: { batch_index: 1 } })
    expect(await failure(['batch', '-'], 2, { stdin: 'no json' })).toMatchObject({ code: 'invalid_json' })
    expect(await failure(['batch', 'nowhere.json'], 1, { env: {} })).toMatchObject({ code: 'io_failed' })
  })
})

describe('a node', () => {
  it('is stored, read, changed and deleted (CQ-121)', async () => {
    const { entry_id } = await answer(
      [
        'store',
        '-',
        '--label',
        'A note',
        '--tags',
        HASHTAGS.web.join(' '),
        '--metadata',
        '{"a":1}',
        '--mode',
        'Sparse',
      ],
      { stdin: 'Piped content\n' },
    )
    expect(await answer(['get', entry_id])).toMatchObject({
      label: 'A note',
      content: 'Piped content',
      metadata: { a: 1 },
      mode_name: 'Sparse',
      access_count: 0,
    })
    const changes = ['--label', 'Better', '--metadata', 'null', '--mode', 'Eidetic', '--decay', 'off', '--rotten']
    expect(await answer(['update', entry_id, ...changes])).toEqual({ updated: true })
    expect(await answer(['get', entry_id])).toMatchObject({
      label: 'Better',
      metadata: null,
      mode_name: 'Eidetic',
      decay_enabled: false,
      state: 'ROTTEN',
    })
    const { status, stdout } = await chroma(['get', entry_id])
    expect({ status, shows: /^label +Better$/m.test(stdout) }).toEqual({ status: 0, shows: true })
    expect(await answer(['delete', entry_id])).toEqual({ deleted: true })
    expect(await failure(['get', entry_id], 1)).toMatchObject({ code: 'not_found' })
  })

  it('that is not there, or cannot be so, is a failure (CQ-121)', async () => {
    for (const args of [
      ['get', 'none'],
      ['delete', 'none'],
      ['update', 'none', '--label', 'x'],
    ]) {
      expect(await failure(args, 1)).toMatchObject({ code: 'not_found' })
    }
    const store = ['store', 'text', '--tags', PYTHON]
    expect(await failure([...store, '--label', 'x'.repeat(501)], 2)).toMatchObject({ type: 'ValidationError' })
    expect(await failure([...store, '--label', 'x', '--mode', 'Eternal'], 2)).toMatchObject({ type: 'ValidationError' })
    expect(await failure(['update', 'far', '--decay', 'maybe'], 2)).toMatchObject({ code: 'invalid_argument' })
    const { label } = await answer(['get', 'far'])
    const half = ['update', 'far', '--label', 'Other', '--mode', 'Bogus']
    expect(await failure(half, 2)).toMatchObject({ code: 'invalid_parameter' })
    expect((await answer(['get', 'far'])).label).toBe(label)
  })
})

describe('hashtags', () => {
  it('are assigned, listed, moved and freed (CQ-121)', async () => {
    const bound = await answer(['assign', 'Lattice', 'mid'])
    expect(bound).toMatchObject({ hashtag: '#lattice', zone: 'Mid' })
    expect(await answer(['assign', '#lattice', 'MID'])).toEqual(bound)
    expect(await failure(['assign', '#lattice', 'core'], 1)).toMatchObject({ type: 'HashtagConflictError' })
    expect(await failure(['assign', '#lattices', 'middle'], 2)).toMatchObject({ code: 'invalid_parameter' })
    expect(await answer(['migrate', '#lattice', '9998'])).toMatchObject({ to_anchor_id: 9998, nodes_updated: 0 })
    const { hashtags } = await answer(['hashtags', 'outer'])
    expect(hashtags).toContainEqual(expect.objectContaining({ hashtag: '#lattice', anchor_id: 9998 }))
    expect(await answer(['unassign', '#lattice'])).toMatchObject({ anchor_id: 9998 })
    expect(await failure(['unassign', '#lattice'], 2)).toMatchObject({ code: 'unknown_hashtag' })
    expect(await failure(['unassign', '#python'], 1)).toMatchObject({ code: 'hashtag_in_use' })
  })

  it('come from a file, all or none (CQ-121)', async () => {
    writeFileSync(join(folder, 'tags.txt'), '# ours\n#kelp mid\nreef, outer\n')
    expect((await answer(['assign', '--file', 'tags.txt'])).assigned).toMatchObject([
      { hashtag: '#kelp', zone: 'Mid' },
      { hashtag: '#reef', zone: 'Outer' },
    ])
    const wrong = await failure(['assign', '--file', '-'], 2, { stdin: 'krill mid\nplankton nowhere\n' })
    expect(wrong).toMatchObject({ code: 'invalid_parameter', details: { line: 2 } })
    expect(await failure(['unassign', 'krill'], 2)).toMatchObject({ code: 'unknown_hashtag' })
  })

  it('are carried to another store, near each other as they were (CQ-121, CQ-150)', async () => {
    const other = ['--home', join(folder, 'vocabulary')]
    expect(await answer(['assign', 'podman', '--near', '#docker'])).toMatchObject({ zone: 'Mid' })
    const { stdout } = await chroma(['hashtags', '--as', 'lines'])
    const { assigned } = await answer(['assign', '--file', '-', ...other], { stdin: stdout })
    expect(assigned).toEqual((await answer(['hashtags'])).hashtags)
  })

  it('are found in a text (CQ-121)', async () => {
    const found = { hashtags: ['#async', '#python', '#pathlib'] }
    expect(await answer(['suggest', 'Async Python,', 'with (pathlib)'])).toEqual(found)
    expect(await answer(['suggest', '-'], { stdin: 'Async Python, with (pathlib)' })).toEqual(found)
    expect((await chroma(['suggest', 'python'])).stdout).toBe('#python\n')
  })
})

describe('memory', () => {
  it('decays, is checked and counted (CQ-121)', async () => {
    const home = ['--home', join(folder, 'memory')]
    await answer(['assign', '--starter', ...home])
    await answer(['import', 'nodes.json', ...home])
    expect(await answer(['decay', ...home])).toMatchObject({ processed: 3, health_decayed: 3, errors: 0 })
    expect(await answer(['decay', ...home])).toMatchObject({ strength_decayed: 0, health_decayed: 0, errors: 0 })
    const { rots } = await answer(['lifecycle', ...home])
    expect(await answer(['stats', ...home])).toMatchObject({ total_nodes: 3, permanent_nodes: 0, rotten_nodes: rots })
  })
})

describe('export and import', () => {
  it('carry all nodes to another store (CQ-121, CQ-128)', async () => {
    const other = ['--home', join(folder, 'other')]
    const { stdout } = await chroma(['export'])
    await answer(['assign', '--starter', ...other])
    expect(await answer(['import', '-', ...other], { stdin: stdout })).toEqual({ imported: 3 })
    expect((await chroma(['export', ...other])).stdout).toBe(stdout)
    expect(await failure(['import', '-', ...other], 2, { stdin: stdout })).toMatchObject({ code: 'duplicate_entry' })
  })
})

describe('settings and plug-ins', () => {
  it('come from the environment; a wrong one ends with 2 (CQ-096)', async () => {
    const set = { env: { CHROMA_QUERY_DEFAULT_K: '1' } }
    expect((await answer(['query', ...HASHTAGS.python, ...dry], set)).results).toHaveLength(1)
    const wrong = await failure(['stats'], 2, { env: { CHROMA_QUERY_DEFAULT_K: 'many' } })
    expect(wrong).toMatchObject({ type: 'ConfigurationError', details: { key: 'CHROMA_QUERY_DEFAULT_K' } })
  })

  it('are skipped with a warning without a terminal, and loaded where their folder is trusted', async () => {
    const plugins = join(folder, '.querent', 'plugins')
    mkdirSync(plugins)
    writeFileSync(
      join(plugins, 'loud.mjs'),
      'export const profiles = { loud: { parseInput: (text, { complete, tagsIn }) => ({ hashtags: complete(tagsIn(text.toLowerCase())) }) } }\n',
    )
    const ask = ['query', 'PYTHON', '--profile', 'loud', ...dry]
    const skipped = await chroma([...ask, '--json'])
    expect({ status: skipped.status, stdout: skipped.stdout }).toEqual({ status: 2, stdout: '' })
    const [warning = '', error = ''] = skipped.stderr.split('\n')
    expect(warning).toMatch(/loud\.mjs is not trusted and was skipped; name its folder with --trust-plugins/)
    expect(JSON.parse(error).error.code).toBe('unknown_profile')
    expect((await answer([...ask, '--trust-plugins', plugins])).results.length).toBeGreaterThan(0)
    expect((await chroma(['stats'])).stderr).toContain('skipped') // trust of one call is not remembered
    rmSync(plugins, { recursive: true })
  })
})
