import { describe, expect, it } from 'vitest'
import { QueryProfileError, ValidationError } from '../../../../../src/lenses/chroma/errors.ts'
import type { ResultRow } from '../../../../../src/lenses/chroma/model.ts'
import { QueryProfile } from '../../../../../src/lenses/chroma/profiles/query-profile.ts'
import { Profiles } from '../../../../../src/lenses/chroma/profiles/registry.ts'
import { NEW_YEAR, QUERY, row, viewOf, type World, words } from './view.ts'

const VIEW = viewOf({ core: ['a'] })
const profileOf = (hooks: object): QueryProfile => Object.assign(new QueryProfile(), hooks)
const parsing = (parseInput: unknown): Profiles => new Profiles({ profiles: { mine: profileOf({ parseInput }) } })
const CONTEXT = { query: QUERY, state: undefined, now: NEW_YEAR }

describe('the base class', () => {
  it('cannot parse, changes no rows, and scores 0 (CQ-078)', () => {
    const base = new QueryProfile()
    const rows = [row()]
    expect(() => base.parseInput('text', undefined as never)).toThrow(Error)
    expect(base.postProcess(rows, CONTEXT)).toBe(rows)
    expect(base.customScoring(row(), QUERY)).toBe(0)
  })
})

describe('registration', () => {
  const profile = profileOf({ parseInput: () => ({ hashtags: [] }) })

  it.each(['', 'a b', 'ä', 'x'.repeat(65), 'a/b', 7])('refuses the name %j (CQ-082)', name => {
    const refused = expect.objectContaining({ name: 'PluginError', code: 'invalid_profile_name' })
    expect(() => new Profiles().register(name as string, profile)).toThrow(refused)
  })

  it('refuses the reserved name, what has no parseInput, and a name in use (CQ-082)', () => {
    const profiles = new Profiles()
    const code = (name: string) => expect.objectContaining({ name: 'PluginError', code: name })
    expect(() => profiles.register('default', profile)).toThrow(code('reserved_profile_name'))
    expect(() => profiles.register('default', profile, { replace: true })).toThrow(code('reserved_profile_name'))
    expect(() => profiles.register('mine', {} as never)).toThrow(code('invalid_profile'))
    expect(() => profiles.register('mine', null as never)).toThrow(code('invalid_profile'))
    profiles.register('My_profile-2', profile)
    expect(() => profiles.register('My_profile-2', profile)).toThrow(code('profile_exists'))
    profiles.register('My_profile-2', profile, { replace: true })
    profiles.register('__proto__', profile)
    expect(profiles.names).toEqual(['My_profile-2', '__proto__', 'code_search', 'default', 'knowledge_patch'])
  })

  it('sets the profile that applies when none is named; "default" stays the built-in one (CQ-018, CQ-083)', () => {
    const profiles = new Profiles({ profiles: { mine: profile } })
    expect(profiles.select(undefined)).toBe('default')
    profiles.setDefault('mine')
    expect([profiles.select(undefined), profiles.select(null), profiles.select('default')]).toEqual([
      'mine',
      'mine',
      'default',
    ])
    const unknown = expect.objectContaining({ name: 'QueryError', code: 'unknown_profile' })
    expect(() => profiles.setDefault('yours')).toThrow(unknown)
    expect(() => profiles.select('yours')).toThrow(unknown)
    expect(profiles.select(undefined)).toBe('mine')
  })
})

describe('a parse hook', () => {
  it('gives any subset of the parameters and a state (CQ-079)', async () => {
    const state = { any: () => 1 }
    const given = { hashtags: ['#A'], k: 3, maxDistance: null, state }
    const { params, reported } = await parsing(async () => given).parse('mine', 'x', VIEW)
    expect(params).toEqual(given)
    expect(params.state).toBe(state)
    expect(params.hashtags).not.toBe(given.hashtags)
    expect(reported).toBeNull()
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
    ['returns nothing', () => undefined],
    ['returns no hashtags', () => ({ k: 1 })],
    ['returns hashtags as text', () => ({ hashtags: '#a' })],
    ['returns what is no parameter', () => ({ hashtags: [], max_distance: 3 })],
    [
      'throws what is no error',
      () => {
        throw 'no'
      },
    ],
  ])('that %s is QueryProfileError, without retry (CQ-091)', async (_, hook) => {
    let calls = 0
    const profiles = parsing(() => {
      calls += 1
      return hook()
    })
    const failure = await profiles.parse('mine', 'x', VIEW).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(QueryProfileError)
    expect(failure).toMatchObject({ code: 'profile_parse_failed', details: { profile: 'mine' } })
    expect((failure as Error).cause).toBeDefined()
    expect(calls).toBe(1)
  })

  it('may throw an error of the lens, which passes unchanged (CQ-091)', async () => {
    const own = new ValidationError('invalid_hashtags', 'own')
    const profiles = parsing(() => {
      throw own
    })
    await expect(profiles.parse('mine', 'x', VIEW)).rejects.toBe(own)
    await expect(profiles.parse('mine', 'x', VIEW, { fallbackToDefault: true })).rejects.toBe(own)
  })

  it('that fails is replaced by the default profile where that is asked for (CQ-092)', async () => {
    const profiles = parsing(() => {
      throw new Error('no')
    })
    const world = viewOf({ core: ['a'], mid: ['b', 'c', 'd', 'e', 'f', 'g'], outer: ['h'] })
    const parsed = await profiles.parse('mine', 'a b c d e f g h', world, { fallbackToDefault: true })
    expect(parsed.profile).toBe('default')
    expect(parsed.params.hashtags).toHaveLength(8)
    expect(parsed.warnings).toMatchObject([{ code: 'profile_fallback', details: { profile: 'mine' } }])
    await expect(profiles.parse('mine', 'a', world)).rejects.toBeInstanceOf(QueryProfileError)
  })
})

describe('a post-process hook', () => {
  const post = (postProcess: unknown, sleeps: number[] = []) => {
    const sleep = async (ms: number): Promise<void> => {
      sleeps.push(ms)
    }
    const profiles = new Profiles({ profiles: { mine: profileOf({ postProcess }) }, sleep })
    return (rows: readonly ResultRow[]) => profiles.postProcess('mine', rows, CONTEXT)
  }
  const ROWS = [row({ entry_id: 'a' }), row({ entry_id: 'b' })]

  it('gives the answer, even in another order and with fewer rows (CQ-072)', async () => {
    const reversed = post((rows: ResultRow[]) => [...rows].reverse())
    expect((await reversed(ROWS)).rows.map(one => one.entry_id)).toEqual(['b', 'a'])
    expect(await post(() => [])(ROWS)).toEqual({ rows: [], warnings: [] })
  })

  it('gets the state of its own query, and none for a list (CQ-079, CQ-081)', async () => {
    const seen: unknown[] = []
    const profiles = new Profiles({
      profiles: {
        mine: profileOf({
          postProcess: (rows: ResultRow[], { state }: { state: unknown }) => {
            seen.push(state)
            return rows
          },
        }),
      },
    })
    await profiles.postProcess('mine', ROWS, { ...CONTEXT, state: 7 })
    await profiles.postProcess('mine', ROWS, CONTEXT)
    expect(seen).toEqual([7, undefined])
  })

  it('is tried again at once, after 100 and after 500 ms, on fresh copies, then skipped (CQ-093, CQ-007)', async () => {
    const sleeps: number[] = []
    const seen: string[] = []
    const answer = await post((rows: { label: string }[]) => {
      seen.push(rows.map(one => one.label).join())
      for (const one of rows) one.label = 'spoilt'
      throw new Error('no')
    }, sleeps)(ROWS)
    expect(sleeps).toEqual([100, 500])
    expect(seen).toEqual(['A,A', 'A,A', 'A,A', 'A,A'])
    expect(answer.rows).toEqual(ROWS)
    expect(answer.warnings).toMatchObject([{ code: 'post_process_skipped', details: { profile: 'mine' } }])
  })

  it('may succeed when tried again (CQ-093)', async () => {
    let calls = 0
    const answer = await post((rows: ResultRow[]) => {
      calls += 1
      if (calls < 3) throw new Error('no')
      return rows.slice(0, 1)
    })(ROWS)
    expect(answer).toEqual({ rows: [ROWS[0]], warnings: [] })
  })

  it('passes a QueryProfileError on at once (CQ-093)', async () => {
    const own = new QueryProfileError('too_vague', 'own')
    const sleeps: number[] = []
    const failing = post(() => {
      throw own
    }, sleeps)
    await expect(failing(ROWS)).rejects.toBe(own)
    expect(sleeps).toEqual([])
  })

  it.each([
    ['nothing', undefined],
    ['an object', {}],
    ['rows that are none', [1]],
    ['a row that is not JSON', [{ score: Number.NaN }]],
  ])('that returns %s has failed (CQ-076, CQ-093)', async (_, answer) => {
    expect((await post(() => answer)(ROWS)).warnings).toHaveLength(1)
  })

  it('cannot change rows it was given after it has answered (CQ-007)', async () => {
    let kept: { label: string }[] = []
    const { rows } = await post((copies: { label: string }[]) => {
      kept = copies
      return copies
    })(ROWS)
    for (const one of kept) one.label = 'late'
    expect(rows).toEqual(ROWS)
  })
})

const WORLD: World = {
  core: ['python'],
  mid: ['async', 'retry', ...words('m', 6)],
  outer: ['o'],
  nodes: [['python', 'async', 'retry', 'o', ...words('m', 6)]],
}
const profiles = new Profiles()

describe('code_search (CQ-148)', () => {
  it('makes filters of its fields and asks for the rest', async () => {
    const text = 'lang:python kind:function path:"src/a b" symbol:retryAsync top 4 retry async since 2025'
    const { params } = await profiles.parse('code_search', text, viewOf(WORLD))
    expect(params).toMatchObject({
      k: 4,
      temporalRange: [1_735_689_600, NEW_YEAR],
      metadataFilters: { language: 'python', kind: 'function', path: { $contains: 'src/a b' }, symbol: 'retryAsync' },
    })
    expect(params.hashtags).toEqual(['#retry', '#async'])
    expect((await profiles.parse('code_search', 'retry', viewOf(WORLD))).params.metadataFilters).toBeUndefined()
  })

  it('scores by the words of the label that were asked for', async () => {
    const query = { ...QUERY, hashtags: ['#retry', '#async', '#m0'], completed_hashtags: ['#m0'] }
    const custom = profiles.customScoring('code_search', query)
    const scores = ['retryAsync(times)', 'class AsyncHTTPClient', 'm0'].map((label, at) =>
      custom?.score(at, row({ label })),
    )
    expect(await Promise.all(scores)).toEqual([1, 0.5, 0])
  })

  it('shows three entries of a file at most', async () => {
    const rows = ['a', 'a', 'a', 'a', 'b', null].map((path, at) =>
      row({ entry_id: `e${at}`, metadata: path ? { path } : null }),
    )
    const context = { query: QUERY, state: undefined, now: NEW_YEAR }
    const answer = await profiles.postProcess('code_search', rows, context)
    expect(answer.rows.map(one => one.entry_id)).toEqual(['e0', 'e1', 'e2', 'e4', 'e5'])
  })
})
