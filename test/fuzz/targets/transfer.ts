/** Export and import: what is taken comes out again and makes the same store; what is refused leaves nothing. */
import type { Json } from '../../../src/base/canonical.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { openTestEngine } from '../../support/engines.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'
import { linesNear, said, type Target } from '../inputs.ts'
import { assertAlike, assertRefusal, must } from '../oracles.ts'
import { dumpOf, openWorld } from '../world.ts'

const WORDS = 'owner ana public private shared default entry row access beliefs_beliefs AAAA fox e'.split(' ')

export async function transferTarget(): Promise<Target<readonly Json[]>> {
  await using world = await openWorld()
  const lines = (await dumpOf(world.engine)).split('\n').map(line => JSON.parse(line) as Json)
  const [head = null, ...rest] = lines
  // All hashtags and anchors are alike: a few lines of each sort are enough.
  const sorts = new Map<string, Json[]>()
  for (const line of rest) {
    const { type = '', table = '' } = line as { readonly type?: string; readonly table?: string }
    const known = sorts.get(`${type} ${table}`) ?? []
    if (known.length < 4) sorts.set(`${type} ${table}`, [...known, line])
  }
  const few = [...sorts.values()].flat()
  const entries = few.filter(line => (line as { readonly type?: string }).type === 'entry')
  return {
    near: good => linesNear(good, [head, ...few], WORDS),
    seeds: [
      [head, ...few],
      [head, ...entries],
      ...[...sorts.values()].map(of => [head, ...entries.slice(0, 1), ...of.slice(0, 1)]),
    ],
    open: async () => ({ try: tryLines }),
  }
}

async function tryLines(written: readonly Json[]): Promise<void> {
  const lines = written.map(said)
  await using engine = await openEmpty()
  const before = await dumpOf(engine)
  const refusal = await importInto(engine, lines)
  const after = await dumpOf(engine)
  if (refusal !== null) {
    must(before === after, `a refused import has left something: ${refusal.message}`)
    const again = await importInto(engine, lines)
    must(again !== null, 'refused, then taken')
    return assertAlike(refusal, again)
  }
  await using other = await openEmpty()
  const back = await importInto(
    other,
    after.split('\n').map(line => JSON.parse(line)),
  )
  if (back !== null) throw back
  must((await dumpOf(other)) === after, 'what was exported makes another store')
  await ask(engine)
}

/** Whatever came in must not stand in the way of questions. */
async function ask(engine: Engine): Promise<void> {
  for (const lens of ['default', 'context', 'collections']) {
    try {
      await engine.query({ text: 'fox', lens, any: true })
    } catch (thrown) {
      assertRefusal(thrown)
    }
  }
  await engine.list({})
}

function openEmpty(): Promise<Engine> {
  return openTestEngine({ embedder: openToyEmbedder() })
}

async function importInto(engine: Engine, lines: readonly unknown[]) {
  try {
    await engine.import(each(lines))
    return null
  } catch (thrown) {
    return assertRefusal(thrown)
  }
}

async function* each<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values
}
