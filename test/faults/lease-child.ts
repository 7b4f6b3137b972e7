/**
 * `node lease-child.ts <file> <name>`: a process with a lease that does what lines tell it, and says what came of it:
 * `take`, `write` (as its holder), `release`, `jump <ms>` (its clock alone).
 */
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Lease, nameHolder } from '../../src/engine/background/lease.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'

const [, , file = '', name = ''] = process.argv
const store = openSqliteStore({ file })
let ahead = 0
let number = 0
const lease = new Lease(store, 'work', nameHolder(name), () => Date.now() + ahead)
const input = createInterface({ input: process.stdin })
input.once('close', () => process.exit(0))
input.on('line', async line => writeSync(1, `${++number} ${await answer(line)}\n`))
writeSync(1, '0 ready\n')

async function answer(line: string): Promise<string> {
  const [what, value] = line.split(' ')
  if (what === 'take') return (await lease.take()) ? 'taken' : 'others'
  if (what === 'jump') ahead += Number(value)
  if (what === 'release') await lease.release()
  return what === 'write' ? write() : 'done'
}

function write(): string {
  try {
    store.write(1, writer => {
      lease.requireHeld(writer)
      writer.setMeta('written by', `${writer.meta('written by') ?? ''}${name}`)
    })
    return 'written'
  } catch (error) {
    return (error as Error).message
  }
}
