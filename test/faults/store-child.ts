/**
 * Another process on a store file: `node store-child.ts <task> <file> [argument]`. Lines are written synchronously, so
 * that a line once out tells of something that happened before.
 */
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { deserialize } from 'node:v8'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { draftOf, lineChunks } from '../support/entries.ts'
import type { Act } from '../support/play.ts'
import { takeNextAct } from './crash-acts.ts'
import { say } from './say.ts'

const [, , task, file = '', argument = ''] = process.argv

switch (task) {
  case 'hold-lock':
    await holdLock()
    break
  case 'write':
    await writeEntries(Number(argument))
    break
  case 'play':
    playForEver()
    break
  case 'open':
    say('opening')
    openSqliteStore({ file }).close()
    say('opened')
    break
  case 'read-as-nobody':
    readAsNobody()
    break
  default:
    throw new Error(`no task ${task}`)
}

/** Takes the write lock and keeps it until it reads a line. */
async function holdLock(): Promise<void> {
  const { DatabaseSync } = await import('node:sqlite')
  // The engine under test may be writing at this moment.
  const db = new DatabaseSync(file, { timeout: 20_000 })
  db.exec('begin immediate')
  say('holding')
  for await (const _ of createInterface({ input: process.stdin })) break
  db.exec('commit')
  db.close()
  say('released')
  process.stdin.destroy()
}

async function writeEntries(count: number): Promise<void> {
  const store = openSqliteStore({ file, timeoutMs: 20_000 })
  for (let at = 0; at < count; at++) {
    const draft = draftOf({ id: `${process.pid} ${at}`, content: 'one\ntwo' })
    const { key } = await store.writeWhenFree(at, writer => writer.put(draft, lineChunks(draft)))
    say(`wrote ${key}`)
  }
  store.close()
}

/** The acts that the file named by the argument holds, round and round until it is killed. */
function playForEver(): void {
  const acts = deserialize(readFileSync(argument)) as readonly Act[]
  const store = openSqliteStore({ file, timeoutMs: 20_000 })
  say('ready')
  for (;;) say(`acted ${takeNextAct(store, acts)}`)
}

function readAsNobody(): void {
  // Root may write whatever the permissions say.
  if (process.getuid?.() === 0) {
    process.setgid?.(65_534)
    process.setuid?.(65_534)
  }
  for (const readOnly of [true, false]) {
    const name = readOnly ? 'reader' : 'writer'
    try {
      const store = openSqliteStore({ file, readOnly, timeoutMs: 100 })
      say(`${name} read ${store.scanEntries(0, 9).length}`)
      store.write(1, writer => writer.setMeta('a', 'b'))
      say(`${name} wrote`)
    } catch (error) {
      say(`${name} got ${(error as { code: string }).code}`)
    }
  }
}
