/** A real ChromaDB server for tests, from a package file of its own (`test/chroma-server`): users never install it. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { oneAtATime } from './build-once.ts'

export interface ChromaServer {
  /** Without a slash at the end. */
  readonly url: string
  stop(): Promise<void>
}

const folder = fileURLToPath(new URL('../chroma-server', import.meta.url))
const program = join(folder, 'node_modules/chromadb/dist/cli.mjs')
/** Written when the installation is whole. */
const installed = join(folder, 'node_modules/.installed')
/** Several times what it takes on two cores that others use too. */
const START_MS = 30_000
/** Another program may take the port before the server does. */
const ATTEMPTS = 3

/**
 * Why there can be no server here, or null. Installs it on the first call (a few hundred megabytes); files of tests that run beside
 * each other wait for one installation.
 */
export function whyNoChroma(): string | null {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'its server is tested on Linux x64 only'
  return existsSync(installed) ? null : oneAtATime(install)
}

function install(): string | null {
  if (existsSync(installed)) return null
  const { status, stderr } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline'], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 240_000,
  })
  if (status !== 0 || !existsSync(program)) return `it could not be installed: ${(stderr ?? '').slice(-200)}`
  writeFileSync(installed, '')
  return null
}

/** With the data of a folder, which stays; without one, empty. */
export async function startChroma(kept?: string): Promise<ChromaServer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startAt(await freePort(), kept)
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
    }
  }
}

async function startAt(port: number, kept?: string): Promise<ChromaServer> {
  const data = kept ?? mkdtempSync(join(tmpdir(), 'querent-chroma-'))
  const args = ['run', '--path', data, '--host', '127.0.0.1', '--port', String(port)]
  const child = spawn(process.execPath, [program, ...args], {
    cwd: data,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ANONYMIZED_TELEMETRY: 'False' },
  })
  let log = ''
  // Read all along: a full pipe would stop the server.
  const note = (part: Buffer): void => {
    log += String(part)
  }
  for (const stream of [child.stdout, child.stderr]) stream.on('data', note)
  const gone = new Promise<void>(resolve => child.once('exit', () => resolve()))
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await gone
    if (kept === undefined) rmSync(data, { recursive: true, force: true })
  }
  const url = `http://127.0.0.1:${port}`
  for (const end = performance.now() + START_MS; !(await answers(url)); await wait(50)) {
    if (child.exitCode === null && performance.now() < end) continue
    await stop()
    throw new Error(`the ChromaDB server did not start:\n${log}`)
  }
  return { url, stop }
}

function answers(url: string): Promise<boolean> {
  return fetch(`${url}/api/v2/heartbeat`).then(
    response => response.ok,
    () => false,
  )
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
