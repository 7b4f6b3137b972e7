/** A lease among real processes: its holder is killed, hangs for longer than a term, has a clock of its own. */
import { expect, it, onTestFinished } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { Child } from './child.ts'

const LONGER_THAN_A_TERM = 20_000
const LOST = 'another process took over work'

class Holder {
  readonly child: Child
  #asked = 0

  constructor(file: string, name: string) {
    this.child = new Child('lease-child.ts', import.meta.url, [file, name])
  }

  /** What it answers, printed now, also when it hangs. */
  async tell(line: string): Promise<string> {
    const number = ++this.#asked
    this.child.tell(line)
    const said = await this.child.says(`${number} `)
    return said.slice(`${number} `.length)
  }
}

async function openTwo() {
  const folder = tempFolder()
  const file = folder.file('store.db')
  const store = openSqliteStore({ file })
  const [a, b] = [new Holder(file, 'a'), new Holder(file, 'b')]
  onTestFinished(async () => {
    await Promise.all([a.child.kill(), b.child.kill()])
    store.close()
    folder[Symbol.dispose]()
  })
  await Promise.all([a.child.says('0 ready'), b.child.says('0 ready')])
  return { a, b, written: () => store.meta('written by') }
}

it('of a killed holder goes to the next process that requests it', async () => {
  const { a, b, written } = await openTwo()
  expect([await a.tell('take'), await a.tell('write'), await b.tell('take')]).toEqual(['taken', 'written', 'others'])
  expect(await b.tell('write')).toBe(LOST)
  await a.child.kill()
  expect([await b.tell('take'), await b.tell('write')]).toEqual(['taken', 'written'])
  expect(written()).toBe('ab')
})

it('of a holder that hangs goes to another after its term, and the one that wakes cannot write under it', async () => {
  const { a, b, written } = await openTwo()
  expect([await a.tell('take'), await a.tell('write')]).toEqual(['taken', 'written'])
  a.child.pause()
  const late = a.tell('write')
  expect(await b.tell('take')).toBe('others')
  await b.tell(`jump ${LONGER_THAN_A_TERM}`)
  expect([await b.tell('take'), await b.tell('write')]).toEqual(['taken', 'written'])
  a.child.resume()
  expect(await late).toBe(LOST)
  expect(await a.tell('take')).toBe('others')
  await b.tell('release')
  expect(await a.tell('write'), 'it was given back meanwhile').toBe(LOST)
  expect([await a.tell('take'), await a.tell('write')]).toEqual(['taken', 'written'])
  expect(written()).toBe('aba')
})

it.each([1, -1])(
  'among clocks that differ is taken early or late, and never written under by both (%i h)',
  async hours => {
    const { a, b, written } = await openTwo()
    await a.tell(`jump ${hours * 3_600_000}`)
    expect([await a.tell('take'), await a.tell('write')]).toEqual(['taken', 'written'])
    const early = await b.tell('take')
    expect(early).toBe(hours > 0 ? 'others' : 'taken')
    expect([await a.tell('write'), await b.tell('write')]).toEqual(hours > 0 ? ['written', LOST] : [LOST, 'written'])
    expect(written()).toBe(hours > 0 ? 'aa' : 'ab')
  },
)
