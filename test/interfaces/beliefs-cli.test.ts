/** `querent beliefs …`, `trust …`, `agents …` and `federations …`: what is printed where, and what it ends with. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Run } from '../support/command.ts'
import { runInProcess } from '../support/in-process.ts'

const NOW = '2026-03-01T12:00:00Z'

let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'querent-beliefs-cli-'))
  vi.stubEnv('QUERENT_EMBEDDER', 'none')
  vi.stubEnv('QUERENT_HOME', join(folder, '.querent'))
  expect(await answer(['beliefs', 'sample'])).toMatchObject({ agents: 12, federations: 3 })
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

interface More {
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
}

function run(args: readonly string[], { stdin, env }: More = {}): Promise<Run> {
  return runInProcess(args, { workingFolder: folder, stdin, env: { QUERENT_NOW: NOW, ...env } })
}

/** Exactly one JSON document. */
// biome-ignore lint/suspicious/noExplicitAny: documents of many shapes, read in expectations only
async function answer(args: readonly string[], more?: More): Promise<any> {
  const { status, stdout, stderr } = await run([...args, '--json'], more)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return JSON.parse(stdout)
}

async function text(args: readonly string[], more?: More): Promise<string> {
  const { status, stdout, stderr } = await run(args, more)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout
}

const MINE = ['--viewer', 'my-agent-uuid']

describe('querent beliefs query', () => {
  it('asks all that one may see, or the scopes that are named', async () => {
    const kinds = async (...flags: readonly string[]) => {
      const { beliefs } = await answer([
        'beliefs',
        'query',
        'quantum',
        'computing',
        ...MINE,
        '--limit',
        '300',
        ...flags,
      ])
      return new Set(beliefs.map(({ source }: { source: { kind: string } }) => source.kind))
    }
    expect(await kinds()).toEqual(new Set(['local', 'federated', 'network']))
    expect(await kinds('--local')).toEqual(new Set(['local']))
    expect(await kinds('--federated', '--network')).toEqual(new Set(['federated', 'network']))
  })

  it('answers each agent for itself, and the owner as the agent owner', async () => {
    const seen = async (...viewer: readonly string[]) =>
      (await answer(['beliefs', 'query', '--filter', '{"domains_include": ["people"]}', ...viewer])).total_count
    expect(await seen('--viewer', 'echo-one')).not.toBe(await seen(...MINE))
    expect((await answer(['beliefs', 'query', 'password', '--local'])).total_count).toBe(0)
    const env = { QUERENT_VIEWER: 'echo-one' }
    expect(await run(['beliefs', 'query', 'x', ...MINE], { env })).toMatchObject({ status: 1, stdout: '' })
  })

  it('piece by piece says aside how it ended, and goes on with --more', async () => {
    const query = ['beliefs', 'query', 'quantum', ...MINE, '--limit', '3']
    const { status, stdout, stderr } = await run([...query, '--stream'])
    expect(status).toBe(0)
    expect(
      stdout
        .trim()
        .split('\n')
        .map(line => JSON.parse(line).rank),
    ).toEqual([1, 2, 3])
    expect(stderr).toMatch(/^3 of \d+, as of 2026-03-01T/)
    expect(stderr).toMatch(/^more: --more$/m)
    const next = await answer(['beliefs', 'query', '--more', ...MINE])
    expect(next.beliefs.map((one: { readonly rank: number }) => one.rank)).toEqual([4, 5, 6])
  })

  it('takes filters, presets, domains, bounds, weights, paging, diversity and all else as JSON', async () => {
    const flags = ['--filter', 'recent', '--filter', '{"holder_ids": ["bio-reader"]}', '--domain', 'medical']
    const { beliefs } = await answer(['beliefs', 'query', ...flags, '--min-confidence', '0.8', ...MINE])
    expect(beliefs.length).toBeGreaterThan(3)
    for (const { belief } of beliefs) {
      expect(belief).toMatchObject({ holder_id: 'bio-reader' })
      expect(belief.domains).toContain('medical')
      expect(Date.parse(NOW) - Date.parse(belief.created_at)).toBeLessThanOrEqual(30 * 86_400_000)
    }
    const page = await answer(['beliefs', 'query', ...flags, ...MINE, '--offset', '1', '--limit', '2', '--diverse'])
    expect(page.beliefs).toHaveLength(2)
    expect(page.beliefs[0].rank).toBe(2)
    const weighed = ['--trust-weight', '1', '--context', '{"max_trust_hops": 9}', '--options', '{"dry_run": true}']
    const { effective_weights } = await answer(['beliefs', 'query', 'dna', ...MINE, ...weighed, '--about', 'medical'])
    expect(effective_weights).toMatchObject({ trust: 0.6, max_trust_hops: 5 })
  })

  it('prints a table; with --explain a reason each, with --derivation what each rests on', async () => {
    const asked = ['beliefs', 'query', '--filter', '{"domains_include": ["climate"]}', '--local', ...MINE]
    const printed = await text([...asked, '--explain', '--derivation', '--limit', '3'])
    expect(printed).toMatch(/^ +SCORE +MEANING +CONFIDENCE +TRUST +RECENCY +FROM +HOLDER +ID +BELIEF\n1 +0\.\d{3} +- /)
    expect(printed).toMatch(/\n1\. .*Trust: it is your own/)
    expect(printed).toMatch(/\n {2}← cd-\S+ {2}\w+ {2}/)
    expect(printed).toMatch(/\n3 of \d+, as of 2026-03-01T12:00:00\.000Z\n/)
    expect(await text([...asked, '--min-confidence', '1'])).toMatch(/^no beliefs found\n/)
  })

  it('takes -words as operators, and its question from a pipe', async () => {
    const { beliefs } = await answer(['beliefs', 'query', 'vaccines', '-dna', '--local', ...MINE])
    expect(beliefs.length).toBeGreaterThan(0)
    for (const { belief } of beliefs) expect(belief.content).not.toMatch(/\bdna\b/i)
    expect(
      (await answer(['beliefs', 'query', '-', '--local', ...MINE], { stdin: 'fern\n' })).beliefs[0].belief.id,
    ).toBe('my-plant')
    expect(await run(['beliefs', 'query', 'x', '--limt', '3'])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/unknown option '--limt'\n\(Did you mean --limit\?\)/),
    })
  })
})

describe('querent beliefs', () => {
  it('counts, in all and by value', async () => {
    expect(await text(['beliefs', 'count', '--domain', 'medical', '--viewer', 'ann'])).toMatch(
      /^\d+ \(local 0, federated 0, network \d+\)\n$/,
    )
    const fields = ['--field', 'holder_id', '--field', 'confidence_bucket']
    expect(await text(['beliefs', 'facets', '--filter', 'recent', ...fields])).toMatch(
      /^holder_id\n( +\d+ {2}\S+\n)+confidence_bucket\n +\d+ {2}high\n/,
    )
  })

  it('explains a place, also against another, and why there is none', async () => {
    const asked = ['--filter', '{"domains_include": ["climate"]}', '--local', ...MINE]
    const why = await text(['beliefs', 'explain', 'my-climate-rain', ...asked, '--over', 'my-climate-talk'])
    expect(why).toMatch(/^PART +VALUE +WEIGHT +GIVES\nsemantic +- /)
    expect(why).toMatch(/\nmy-climate-rain is before my-climate-talk by 0\.\d{4}: /)
    expect(await text(['beliefs', 'explain', 'my-plant', ...asked])).toMatch(/domains_include/)
  })

  it('gathers for a purpose, and finds what is similar and what contradicts', async () => {
    const listing = ['--filter', '{"domains_include": ["climate"]}', '--local', ...MINE]
    const merged = await text(['beliefs', 'context', ...listing, '--purpose', 'verify', '--max-tokens', '60'])
    expect(merged).toMatch(/\n\d\d of 60 tokens\nrest on others \(derivation\): my-climate-/)
    expect(await text(['beliefs', 'similar', 'br-no-dna', '--same-holder', ...MINE])).toMatch(/^no beliefs found\n/)
    expect(await text(['beliefs', 'contradictions', 'br-no-dna', ...MINE])).toMatch(/\nHeuristic: /)
  })

  it('tells the owner, and nobody else, how it is calibrated', async () => {
    expect(await text(['beliefs', 'diagnostics', '--no-calibrate'])).toMatch(/^calibration +-\ncounters +/)
    expect(await run(['beliefs', 'diagnostics', ...MINE])).toMatchObject({ status: 1, stdout: '' })
  })

  it('asks a batch, each on its own', async () => {
    const queries = [{ semantic: 'fern' }, { semantic: '' }]
    writeFileSync(join(folder, 'queries.json'), JSON.stringify(queries))
    expect(await answer(['beliefs', 'batch', 'queries.json', ...MINE])).toMatchObject({ succeeded: 1, failed: 1 })
    const printed = await text(['beliefs', 'batch', '-', ...MINE], { stdin: JSON.stringify(queries) })
    expect(printed).toMatch(/my-plant[\s\S]*\n\nINVALID_QUERY: semantic: /)
  })

  it('puts, reads, supersedes and deletes', async () => {
    const more = '--id n1 --domain Science:Biology --from br-octopus --from https://example.org/x'.split(' ')
    expect(
      await text(['beliefs', 'put', 'Squids have three hearts too.', ...more, '--type', 'inference', ...MINE]),
    ).toBe('n1\n')
    const shown = await text(['beliefs', 'get', 'n1', ...MINE])
    expect(shown).toMatch(/\nvisibility +private\ndomains +science\/biology\n/)
    expect(shown).toMatch(/\nrests on br-octopus \(primary\)\nrests on https:\/\/example\.org\/x \(primary\)\n\nSquids/)
    expect(await text(['beliefs', 'derivation', 'n1', ...MINE])).toMatch(/^n1 {2}inference.*\n {2}← br-octopus /)
    const change = ['--id', 'n2', '--federation', 'open-science', '--valid-until', '2027-01-01T00:00:00Z']
    const piped = { stdin: 'Squids and cuttlefish have three hearts too.\n' }
    await text(['beliefs', 'supersede', 'n1', '--content', '-', ...change, ...MINE], piped)
    const { belief, history } = await answer(['beliefs', 'get', 'n2', '--history', ...MINE])
    expect(belief).toMatchObject({ version: 2, content: piped.stdin.trim(), visibility: 'federated' })
    expect(history).toHaveLength(2)
    expect(await text(['beliefs', 'get', 'n2', '--history', ...MINE])).toMatch(/\nother versions\n.* 1 {2}n1 /)
    expect(await text(['beliefs', 'delete', 'n2', ...MINE])).toBe('n2 deleted\n')
    expect((await run(['beliefs', 'get', 'n2', ...MINE])).status).toBe(2)
    const list = [
      { content: 'One.', id: 'l1' },
      { content: 'Two.', id: 'l2' },
    ]
    expect(await text(['beliefs', 'put', '--file', '-', ...MINE], { stdin: JSON.stringify(list) })).toBe('l1\nl2\n')
  })

  it('tells failures with their code on standard error, as text or as one document', async () => {
    const wrong = ['beliefs', 'query', '', '--limit', '0']
    const { status, stdout, stderr } = await run(wrong)
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(
      /^querent: INVALID_QUERY: semantic: expected [^\n]*\n {2}options\.limit: expected [^\n]*\n {2}/,
    )
    const json = await run([...wrong, '--json'])
    expect({ status: json.status, stdout: json.stdout }).toEqual({ status: 2, stdout: '' })
    expect(JSON.parse(json.stderr).error).toMatchObject({ type: 'QueryError', code: 'INVALID_QUERY', retryable: false })
    // What is hidden and what is not there read alike.
    const missing = await run(['beliefs', 'get', 'no-such-belief'])
    expect(await run(['beliefs', 'get', 'my-password'])).toEqual(missing)
    const denied = await run(['agents', 'create', 'zoe', ...MINE])
    expect(denied).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(/^querent: UNAUTHORIZED: /) })
    expect(await run(['beliefs', 'supersede', 'my-plant', ...MINE])).toMatchObject({ status: 2 })
    expect(await run(['beliefs', 'query', 'x', '--filter', '{'])).toMatchObject({ status: 2 })
    expect(await run(['beliefs', 'batch', 'no-such-file'])).toMatchObject({ status: 1 })
    expect(await run(['beliefs', 'sample', ...MINE])).toMatchObject({ status: 1 })
    expect(await run(['beliefs', 'sample'])).toMatchObject({ status: 2 })
  })
})

describe('querent agents, federations and trust', () => {
  it('make a world of their own, from nothing', async () => {
    const home = ['--home', join(folder, 'other', '.querent')]
    await text(['agents', 'create', 'ann', '--label', 'Ann', '--reputation', '0.7', '--trust-graph', 'g', ...home])
    await text(['agents', 'create', 'ben', '--reputation-in', 'medical=0.9', ...home])
    expect(await text(['agents', 'update', 'ben', '--label', 'Ben', ...home])).toMatch(/\nlabel +Ben\n/)
    expect(await text(['agents', 'list', ...home])).toMatch(/^AGENT .*\nann +0\.70 +g +Ann\nben +- +- +Ben\n/)

    await text(['federations', 'create', 'lab', ...home])
    expect(await text(['trust', 'set', 'bne', '0.8', '--viewer', 'ann', ...home])).toContain(
      'bne is not an agent of this node',
    )
    await text(['trust', 'remove', 'bne', '--viewer', 'ann', ...home])
    expect(await text(['federations', 'set-member', 'lab', 'ann', ...home])).toMatch(/\nstatus +active\n/)
    await text([
      'federations',
      'set-member',
      'lab',
      'ben',
      '--role',
      'observer',
      '--permission',
      'query_beliefs',
      ...home,
    ])
    const listed = await text(['federations', 'list', ...home])
    expect(listed).toMatch(/\nlab +individual +strict +founder +active +ann, ben, owner +active, active, active\n/)
    expect(await text(['federations', 'create', 'club', '--pseudonyms', ...home])).toMatch(/\nanonymity +pseudonyms\n/)
    expect(await text(['federations', 'leave', 'lab', '--viewer', 'ann', ...home])).toMatch(/\nstatus +departed\n/)

    const set = ['trust', 'set', 'ben', '0.8', '--domain', 'medical=0.9', '--basis', 'MANUAL', '--persistent']
    expect(await text([...set, '--viewer', 'ann', ...home])).toMatch(/\n +0\.80 +ben .*medical 0\.9 +yes\n/)
    expect((await answer(['trust', 'list', '--viewer', 'ann', ...home])).edges).toHaveLength(1)
    expect(await text(['trust', 'compute', 'ben', '--domain', 'medical', '--viewer', 'ann', ...home])).toMatch(
      /\nkind +direct\n/,
    )
    expect(await text(['trust', 'remove', 'ben', '--viewer', 'ann', ...home])).toBe('removed  yes\n')
    expect(await text(['trust', 'remove', 'ben', '--viewer', 'ann', ...home])).toBe('removed  no\n')
    expect(await text(['trust', 'list', '--viewer', 'ann', ...home])).toBe('no trust stated\n')
    expect(await run(['trust', 'set', 'ben', 'much', '--viewer', 'ann', ...home])).toMatchObject({ status: 2 })
    expect(await run(['trust', 'set', 'ben', '1', '--domain', 'medical', '--viewer', 'ann', ...home])).toMatchObject({
      status: 2,
    })
  })
})

describe('querent federations aggregate', () => {
  it('prints figures or that there are none, and what is left of the budget', async () => {
    const home = ['--home', join(folder, 'counted', '.querent')]
    const create = ['federations', 'create', 'census', '--aggregate', '--epsilon', '5', '--daily-epsilon', '10']
    expect(await text([...create, ...home])).toMatch(/\nresults +aggregate\n/)
    for (let at = 0; at < 12; at++) {
      await text(['agents', 'create', `m${at}`, ...home])
      await text(['federations', 'set-member', 'census', `m${at}`, ...home])
      const put = ['beliefs', 'put', `reef ${at}`, '--domain', 'sea', '--federation', 'census', '--viewer', `m${at}`]
      await text([...put, ...home])
    }
    expect(await text(['federations', 'list', '--viewer', 'm0', ...home])).toMatch(
      /\ncensus +aggregate +\w+ +member +active +-/,
    )
    const ask = (...args: readonly string[]) => text(['federations', 'aggregate', 'census', ...args, ...home])
    const sea = await ask('--domain', 'sea', '--viewer', 'm0')
    expect(sea).toMatch(
      /^sea in census on \d{4}-\d\d-\d\d: about \d+ members, \d+ beliefs \(within 1 and 4 of the truth,/,
    )
    expect(sea).toMatch(/\nepsilon 5 charged, 5 of 10 left until \d{4}-\d\d-\d\dT00:00:00\.000Z\n$/)
    expect(await ask('Tax Law', '--viewer', 'm0')).toMatch(/^"tax law" in census on .*: no figures \(fewer than 5 /)
    const spent = await run(['federations', 'aggregate', 'census', 'boats', '--viewer', 'm0', ...home])
    expect(spent).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^querent: RATE_LIMITED: the privacy budget/),
    })
  })
})

describe('call', () => {
  it('makes a store for what is written, also by families that the lens brings', async () => {
    const home = ['--home', join(folder, 'called', '.querent')]
    expect(await run(['call', 'agents.list', '{}', ...home])).toMatchObject({ status: 1 })
    expect(await text(['call', 'agents.create', '{"id": "ann"}', ...home])).toMatch(/^\{"agent":\{"id":"ann",/)
  })
})

describe('help', () => {
  it('has examples for every command of the groups', async () => {
    const commands = {
      beliefs:
        'query explain count facets batch context watch get similar contradictions derivation put supersede delete sample diagnostics',
      trust: 'set remove list compute',
      agents: 'create update list',
      federations: 'create leave set-member aggregate list',
      peers: 'add list remove about',
    }
    for (const [group, names] of Object.entries(commands)) {
      const { stdout } = await run([group, '--help'])
      expect([...stdout.matchAll(/^ {2}([a-z-]+) \[options\]/gm)].map(match => match[1]).join(' ')).toBe(names)
      for (const name of names.split(' ')) {
        const { status, stdout: help, stderr } = await run([group, name, '--help'])
        expect({ name, status, stderr }).toEqual({ name, status: 0, stderr: '' })
        expect(help).toMatch(/\nExamples:\n {2}\S/)
      }
    }
  })
})
