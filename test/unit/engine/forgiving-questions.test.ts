/** What a question that a person typed, or an agent pasted, finds: operators, phrases, abbreviations and spelling. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Engine, PutInput } from '../../../src/engine/engine.ts'
import type { EngineOptions } from '../../../src/engine/options.ts'
import type { Page } from '../../../src/model/page.ts'
import type { QueryInput } from '../../../src/model/query-input.ts'
import { call, KILN } from '../../support/conversations.ts'
import { idsOf, noteCodes, openTestEngine } from '../../support/engines.ts'
import { modelFolder } from '../../support/model.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'

const bob = { viewer: { id: 'bob' } }

async function engineWith(entries: readonly PutInput[], options: EngineOptions = {}): Promise<Engine> {
  const engine = await openTestEngine(options)
  await engine.put({ entries, wait: true })
  return engine
}

async function idsFor(engine: Engine, input: QueryInput): Promise<readonly string[]> {
  return idsOf(await engine.query(input))
}

function note(page: Page, code: string): string | undefined {
  return page.notes.find(each => each.code === code)?.message
}

const PASTED: readonly PutInput[] = [
  { id: 'wal', content: 'SQLite cannot open the wal file when the folder is read-only.' },
  { id: 'notes', content: 'Release notes of the first version.' },
  { id: 'cats', content: 'Cats sleep a lot.' },
  { id: 'both', content: 'Cats and dogs rarely share a basket.' },
]

describe('pasted text (QE-001)', () => {
  it('finds what it is about: a minus and a field in it are text, and a note says so', async () => {
    const engine = await engineWith(PASTED)
    const error = await engine.query({ text: 'error: cannot open -wal file' })
    expect(idsOf(error)[0]).toBe('wal')
    expect(noteCodes(error)).toContain('read_as_text')
    const release = await engine.query({ text: 'tag:v1 release notes' })
    expect(idsOf(release)).toEqual(['notes'])
    expect(note(release, 'condition_dropped')).toContain('no visible entry has this value: tag:v1')
    const quote = await engine.query({ text: 'release "notes of' })
    expect(idsOf(quote)).toEqual(['notes'])
    expect(note(quote, 'read_as_text')).toContain('the quote is never closed')
    expect(await idsFor(engine, { text: 'cats -dogs' })).toEqual(['cats'])
    await engine.close()
  })

  it('keeps a condition that stands alone, is negated, compares, or names a value that is there', async () => {
    const engine = await engineWith([...PASTED, { id: 'v1', content: 'Release of one.', tags: ['v1'] }])
    expect(await idsFor(engine, { text: 'tag:v1 release' })).toEqual(['v1'])
    expect(await idsFor(engine, { text: 'tag:v2' })).toEqual([])
    expect(await idsFor(engine, { text: '-tag:v2 release' })).toHaveLength(2)
    expect(await idsFor(engine, { text: 'created:<2000 release' })).toEqual([])
    expect(await idsFor(engine, { text: 'metadata.n:>5 release' })).toEqual([])
    expect(await idsFor(engine, { text: 'tag:v2 release', syntax: 'strict' })).toEqual([])
    expect(await idsFor(engine, { text: 'release', filter: { tags: ['v2'] } })).toEqual([])
    await engine.close()
  })

  it('is an error in strict syntax, and has no operator in plain syntax', async () => {
    const engine = await engineWith(PASTED)
    for (const text of ['release "notes', 'cats - dogs', 'severity:high cats']) {
      await expect(engine.query({ text, syntax: 'strict' })).rejects.toMatchObject({ code: 'query_syntax' })
    }
    const plain = await engine.query({ text: 'cats -dogs', syntax: 'plain' })
    expect([...idsOf(plain)].sort()).toEqual(['both', 'cats'])
    expect(noteCodes(plain)).not.toContain('read_as_text')
    await engine.close()
  })

  it('does not tell of hidden values: a condition that only hidden entries fulfil is dropped', async () => {
    const engine = await engineWith(PASTED.map(entry => ({ ...entry, visibility: 'public' as const })))
    const before = await engine.query({ text: 'tag:v1 release notes' }, bob)
    await engine.put({ entries: [{ id: 'secret', content: 'release notes', tags: ['v1'] }] })
    expect(await engine.query({ text: 'tag:v1 release notes' }, bob)).toEqual(before)
    await engine.close()
  })

  it('reads no operators through the lenses context and c64, and always in beliefs', async () => {
    // The facts of c64 are of another kind.
    const filter = { kinds: ['note'] }
    const asked = { lens: 'c64', filter, options: { min_score_ratio: 0 } }
    const c64 = await engineWith(PASTED.map(entry => ({ ...entry, collection: 'c64' })))
    expect([...(await idsFor(c64, { text: 'cats -dogs', ...asked }))].sort()).toEqual(['both', 'cats'])
    expect(await idsFor(c64, { text: 'say "notes', syntax: 'strict', ...asked })).toEqual(['notes'])
    await c64.close()
    const engine = await openTestEngine()
    await engine.context.bodyInit()
    await engine.context.mindInit()
    const names = ['CatsOnly', 'CatsAndDogs', 'OtherThing']
    await engine.context.mindConceptsCreateMany({ concepts: names.map(name => ({ name, type: 'Class' })) })
    const concepts = await idsFor(engine, { text: 'cats -dogs', lens: 'context' })
    expect([...concepts].sort()).toEqual(['concept:1', 'concept:2'])
    expect(await idsFor(engine, { text: 'other "thing', syntax: 'strict', lens: 'context' })).toEqual(['concept:3'])
    await expect(engine.query({ text: 'say "notes', lens: 'beliefs' })).rejects.toMatchObject({ code: 'query_syntax' })
    // BQ-032: a sign alone is text there.
    expect(noteCodes(await engine.query({ text: 'cats - dogs', lens: 'beliefs' }))).not.toContain('read_as_text')
    await engine.close()
  })
})

const LOCKED: readonly PutInput[] = [
  { id: 'locked', content: 'An error says that the database is locked by another process.' },
  { id: 'words', content: 'The locked drawer is where the key of the database is.' },
  ...Array.from({ length: 12 }, (_, at) => ({
    id: `wal${at}`,
    content: `Text ${at} on write ahead logging in a database.`,
  })),
]

describe('a phrase in lenient syntax (QE-002)', () => {
  it('raises the passages that hold it and leaves the others in, with a note', async () => {
    const engine = await engineWith(LOCKED)
    const page = await engine.query({ text: 'What does "the database is locked" mean?', explain: true })
    expect(idsOf(page)[0]).toBe('locked')
    expect(idsOf(page)).toContain('words')
    expect(note(page, 'phrase_preferred')).toContain('"the database is locked" (1 visible)')
    const [first] = page.items
    expect(first?.components['phrase']).toBeGreaterThan(0)
    expect(first?.score).toBeCloseTo(first?.explanation?.value ?? 0, 12)
    expect(first?.why).toContain('phrase ')
    const without = await engine.query({ text: 'What does the database is locked mean?' })
    const before = without.items.find(({ id }) => id === 'locked')?.score ?? 0
    expect(first?.score).toBeGreaterThan(before)
    await engine.close()
  })

  it('is found where nothing holds it', async () => {
    const engine = await engineWith(LOCKED)
    const page = await engine.query({ text: 'what does "drawer of the process" mean' })
    expect(page.verdict).not.toBe('nothing_relevant')
    expect(note(page, 'phrase_preferred')).toContain('"drawer of the process" (0 visible)')
    await engine.close()
  })

  it('is required where ten visible entries contain it or it stands alone', async () => {
    const engine = await engineWith(LOCKED)
    const many = await engine.query({ text: 'drawer "write ahead logging"', limit: 50 })
    expect(idsOf(many)).toHaveLength(12)
    expect(noteCodes(many)).not.toContain('phrase_preferred')
    expect(await idsFor(engine, { text: '"the database is locked"' })).toEqual(['locked'])
    const alone = await engine.query({ text: '"drawer of the process"' })
    expect(alone).toMatchObject({ verdict: 'nothing_relevant', items: [] })
    await engine.close()
  })

  it('is not required where the conditions together leave nothing', async () => {
    const engine = await engineWith(LOCKED)
    const page = await engine.query({ text: '+drawer "write ahead logging"' })
    expect(idsOf(page)).toEqual(['words'])
    expect(note(page, 'phrase_preferred')).toContain('no entry matches all conditions')
    await engine.close()
  })

  it('is what phrase=require and phrase=prefer say, in lenient and in strict syntax', async () => {
    const engine = await engineWith(LOCKED)
    const text = 'drawer "the database is locked"'
    expect(await idsFor(engine, { text, phrase: 'require' })).toEqual(['locked'])
    expect(await idsFor(engine, { text, syntax: 'strict' })).toEqual(['locked'])
    expect(await idsFor(engine, { text, syntax: 'strict', phrase: 'prefer' })).toContain('words')
    const many = { text: 'drawer "write ahead logging"', phrase: 'prefer', limit: 50 } as const
    expect(await idsFor(engine, many)).toContain('words')
    await engine.close()
  })

  it('counts visible entries alone', async () => {
    const engine = await engineWith(
      LOCKED.map(entry => ({
        ...entry,
        visibility: entry.id?.startsWith('wal') ? ('private' as const) : ('public' as const),
      })),
    )
    const asBob = await engine.query({ text: 'drawer "write ahead logging"' }, bob)
    expect(idsOf(asBob)).toContain('words')
    expect(note(asBob, 'phrase_preferred')).toContain('(0 visible)')
    await engine.close()
  })

  it('raises by words and meaning together, exactly and approximately, and pages go on in that order', async () => {
    const engine = await engineWith(LOCKED, { embedder: openToyEmbedder() })
    const input = { text: 'write text "is locked by" logging', any: true }
    const whole = await engine.query({ ...input, limit: 14 })
    expect(await idsFor(engine, { ...input, limit: 14, approximate: false })).toEqual(idsOf(whole))
    expect(idsOf(whole)).toContain('locked')
    const first = await engine.query({ ...input, limit: 5 })
    const second = await engine.query({ ...input, limit: 9, cursor: first.cursor as string })
    expect([...idsOf(first), ...idsOf(second)]).toEqual(idsOf(whole))
    await engine.close()
  })

  it('raises messages in conversations', async () => {
    const engine = await openTestEngine()
    for (const line of KILN) await call(engine, 'conversations.remember', { ...line, id: line['id'] })
    const asked = await call(engine, 'conversations.query', { text: 'kiln "two bags of sand" place clay' })
    const raised = asked.messages.find(({ text }: { text: string }) => text.includes('two bags'))
    expect(raised.why).toContain('× phrase 1.5')
    expect(asked.messages.length).toBeGreaterThan(1)
    expect(asked.notes.map(({ code }: { code: string }) => code)).toContain('phrase_preferred')
    const required = await call(engine, 'conversations.query', { text: 'kiln "two bags of sand"', phrase: 'require' })
    expect(required.messages).toHaveLength(1)
    const unclosed = await call(engine, 'conversations.query', { text: 'the "kiln' })
    expect(unclosed.messages.length).toBeGreaterThan(0)
    await engine.close()
  })
})

describe('abbreviations with dots (QE-003)', () => {
  it('are no identifiers, whose pieces would outweigh the words of the question', async () => {
    const engine = await engineWith([
      { id: 'fruit', content: 'Bring fruit, e.g. apples.' },
      { id: 'groups', content: 'Group theory is a branch of mathematics that helps retrieval.' },
      ...Array.from({ length: 20 }, (_, at) => ({ id: `n${at}`, content: `Note ${at} on mathematics and retrieval.` })),
      { id: 'us', content: 'The U.S. economy grew at 5 p.m. sharp.' },
      { id: 'u', content: 'The letters u and s, p and m.' },
    ])
    const page = await engine.query({ text: 'mathematics in information retrieval, e.g. group theory' })
    expect(idsOf(page)[0]).toBe('groups')
    expect(idsOf(page)).not.toContain('fruit')
    expect(await idsFor(engine, { text: 'U.S.' })).toEqual(['us'])
    expect(await idsFor(engine, { text: 'p.m.' })).toEqual(['us'])
    await engine.close()
  })
})

const SPELLED: readonly PutInput[] = [
  { id: 'vacuum', content: 'VACUUM rebuilds the file; every table is copied to a new place.' },
  { id: 'manage', content: 'A management command is a script that Django runs.' },
  { id: 'mail', content: 'Emails leave through a server: send one with the function of the module.' },
  { id: 'auth', content: 'Authentication of users is done by a backend.' },
]

describe('a misspelt question (QE-004)', () => {
  it.each([
    ['vaccuum tabel', 'vacuum', 'vacuum table'],
    ['vaccuum comand', 'manage', 'vacuum command'],
    ['how to sennd an emial', 'mail', 'how to send an emails'],
    ['authentification of usres', 'auth', 'authentication of users'],
    ['+vaccuum', 'vacuum', '+vacuum'],
    // The first word has the stem of `management`, and is left as it was written.
    ['"managment comand"', 'manage', '"managment command"'],
  ])('is asked in the nearest spelling, which the answer names: %s', async (text, id, spelling) => {
    const engine = await engineWith(SPELLED)
    const page = await engine.query({ text })
    expect(idsOf(page)[0]).toBe(id)
    expect(page.did_you_mean).toBe(spelling)
    const explained = await engine.explain({ query: { text }, id })
    expect(explained).toMatchObject({ rank: 1, score: page.items[0]?.score })
    await engine.close()
  })

  it('is asked as it is where something is found, and where no spelling is near', async () => {
    const engine = await engineWith(SPELLED)
    expect(await idsFor(engine, { text: 'managment comand' })).toEqual(['manage'])
    expect(await engine.query({ text: 'vaccuum table' })).not.toHaveProperty('did_you_mean')
    for (const text of ['zorblax', 'cmd', 'tbl', '12345', 'vecaam']) {
      const page = await engine.query({ text })
      expect(page).toMatchObject({ verdict: 'nothing_relevant', items: [] })
      expect(page).not.toHaveProperty('did_you_mean')
    }
    await engine.close()
  })

  it('is asked as it is where its words are spelled correctly, even one letter away from a word that is there', async () => {
    await modelFolder()
    const engine = await engineWith([{ id: 'leeds', content: 'Leeds has a noor.' }])
    for (const text of ['weeds', 'seeds', 'the front door', 'needs', 'where is it']) {
      const page = await engine.query({ text })
      expect(page, text).toMatchObject({ verdict: 'nothing_relevant', items: [] })
      expect(page).not.toHaveProperty('did_you_mean')
    }
    expect(await engine.query({ text: 'leedz' })).toMatchObject({ did_you_mean: 'leeds', verdict: 'answered' })
    await engine.close()
  })

  it('says the same by meaning and words, page by page and in a stream', async () => {
    const engine = await engineWith(
      [...SPELLED, ...Array.from({ length: 6 }, (_, at) => ({ id: `v${at}`, content: `vacuum number ${at}` }))],
      { embedder: openToyEmbedder() },
    )
    const first = await engine.query({ text: 'vaccuum', limit: 3, mode: 'words' })
    expect(first.did_you_mean).toBe('vacuum')
    const second = await engine.query({ text: 'vaccuum', limit: 9, mode: 'words', cursor: first.cursor as string })
    expect(second.did_you_mean).toBe('vacuum')
    expect(new Set([...idsOf(first), ...idsOf(second)]).size).toBe(7)
    const chunks = []
    for await (const chunk of engine.stream({ text: 'vaccuum', mode: 'words', chunk_size: 2 })) chunks.push(chunk)
    expect(chunks[0]?.did_you_mean).toBe('vacuum')
    expect(chunks.flatMap(({ items }) => items)).toHaveLength(7)
    await engine.close()
  })

  it('is answered by recall too', async () => {
    const engine = await openTestEngine()
    for (const line of KILN) await call(engine, 'conversations.remember', { ...line })
    const asked = await call(engine, 'conversations.query', { text: 'weeknd' })
    expect(asked).toMatchObject({ did_you_mean: 'weekend', verdict: 'answered' })
    await engine.close()
  })

  it('is not compared with words that only hidden entries hold', async () => {
    const engine = await engineWith([{ id: 'open', content: 'A table of contents.', visibility: 'public' }])
    const before = await engine.query({ text: 'vaccuum tabel' }, bob)
    expect(before.did_you_mean).toBe('vaccuum table')
    await engine.put({ entries: SPELLED })
    await engine.put({ entries: [{ id: 'open2', content: 'tabel' }] })
    expect(await engine.query({ text: 'vaccuum tabel' }, bob)).toEqual(before)
    await engine.close()
  })
})

describe('any text at all (QE-001)', () => {
  const signs = ['"', "'", '\\', '+', '-', '^', ':', '(', ')', '*', '..', '>=', '~', ' ', '\n', '\u0000', '\u202e']
  const words = [
    'fox',
    'kind:',
    'tag:(',
    'created:',
    'metadata.x:',
    'שלום',
    '漢字',
    '👩‍💻',
    '\ud83d',
    '^2',
    ' -abc',
    ' +"',
  ]
  const anyText = fc.oneof(
    fc.array(fc.constantFrom(...signs, ...words), { maxLength: 40 }).map(parts => parts.join('')),
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.constantFrom('-', '+', '"""', '((((', '----', '-a -b', '"', '\\', '^^', ':::', '👩‍💻', '‮abc'),
  )

  it('gives a page in the default lens and in conversations', async () => {
    const engine = await openTestEngine()
    await engine.put({ entries: PASTED })
    for (const line of KILN) await call(engine, 'conversations.remember', { ...line })
    await fc.assert(
      fc.asyncProperty(anyText, async text => {
        // A question without any text is refused; control characters count as blanks.
        fc.pre(text.replace(/[\s\p{Cc}]/gu, '') !== '')
        const page = await engine.query({ text })
        expect(['answered', 'weak', 'nothing_relevant']).toContain(page.verdict)
        const answer = await call(engine, 'conversations.query', { text })
        expect(answer.messages).toBeInstanceOf(Array)
      }),
      { numRuns: 300 },
    )
    await engine.close()
  })

  it('gives a page for 100 kB of a log, and says how much of it was searched', async () => {
    const engine = await engineWith(PASTED)
    const log = Array.from(
      { length: 1500 },
      (_, at) =>
        `2026-03-01T12:00:${at % 60} [worker-${at}] ERROR "cannot open" -wal file: /var/db/x${at}.db (code=${at})`,
    ).join('\n')
    expect(log.length).toBeGreaterThan(100_000)
    const page = await engine.query({ text: log })
    expect(idsOf(page)[0]).toBe('wal')
    expect(noteCodes(page)).toEqual(expect.arrayContaining(['text_cut', 'read_as_text']))
    expect((await call(engine, 'conversations.query', { text: log })).notes[0].code).toBe('text_cut')
    await engine.close()
  })
})
