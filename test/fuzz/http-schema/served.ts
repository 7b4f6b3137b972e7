/** `querent serve` in a process of its own, over a copy of a store that holds something of every lens. */
import type { ChildProcess } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import { callOperation, makeCatalog } from '../../../src/ops/catalog.ts'
import { ended, start } from '../../support/command.ts'
import { openTestEngine } from '../../support/engines.ts'
import { type TempFolder, tempFolder } from '../../support/temp-folder.ts'
import { tokensOf } from '../../support/tokens.ts'
import { ASKER, HIDER } from '../calls/call.ts'
import { SETUP } from '../calls/setup.ts'
import { writeFiles } from '../world.ts'

export interface Served extends AsyncDisposable {
  readonly url: string
  readonly folder: string
  /** What it has put on standard error since this was asked last. */
  said(): string
  /** Whether the process is still there. */
  isUp(): boolean
}

/** Words only, or the built-in model. */
export type Embedder = 'none' | 'local'

/** To be copied for each server. */
export async function makeStore(embedder: Embedder): Promise<TempFolder> {
  const place = tempFolder()
  writeFiles(place)
  writeFileSync(place.file('tokens.json'), JSON.stringify(tokensOf(ASKER, HIDER)), { mode: 0o600 })
  const engine = await openTestEngine({
    home: place.file('.querent'),
    embedder: embedder === 'none' ? 'none' : { provider: 'local' },
  })
  try {
    const catalog = makeCatalog(engine)
    const { signal } = new AbortController()
    for (const { operation, viewer, input } of SETUP)
      await callOperation(catalog, engine, operation, input, { viewer: { id: viewer }, signal })
  } finally {
    await engine.close()
  }
  return place
}

export async function serveCopy(store: TempFolder, embedder: Embedder): Promise<Served> {
  const place = tempFolder()
  cpSync(store.path, place.path, { recursive: true })
  const args = ['serve', '--home', place.file('.querent'), '--port', '0', '--tokens', place.file('tokens.json')]
  const child = start(args, { cwd: place.path, env: { QUERENT_LIMITS: 'off', QUERENT_EMBEDDER: embedder } })
  const over = ended(child)
  let said = ''
  child.stdout?.resume()
  child.stderr?.setEncoding('utf8').on('data', part => {
    said += part
  })
  const url = await addressOf(child, over, () => said)
  said = ''
  return {
    url,
    folder: place.path,
    said: () => {
      const now = said
      said = ''
      return now
    },
    isUp: () => child.exitCode === null && child.signalCode === null,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await over
      place[Symbol.dispose]()
    },
  }
}

function addressOf(child: ChildProcess, over: Promise<unknown>, said: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stderr?.on('data', () => {
      const found = /https?:\/\/[\w.:[\]-]+:\d+/.exec(said())?.[0]
      if (found !== undefined) resolve(found)
    })
    void over.then(() => reject(new Error(`serve has ended: ${said()}`)))
  })
}
