/** A socket in the file system instead of a port: only its user and root can open it. */
import { chmodSync, lstatSync, unlinkSync } from 'node:fs'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import { invalidArgument, QuerentError } from '../../model/errors.ts'

/** `sun_path` of Linux holds 108 bytes with the ending NUL; of macOS and BSD 104. */
const MAX_PATH_BYTES = process.platform === 'linux' ? 107 : 103
const OWNER_ONLY = 0o600

/**
 * Binds the server to the path, with mode 0600 from the first moment. A socket that nobody listens on any more is replaced; whatever else is there stays.
 * Node removes the file when the server closes. `path`: absolute. Throws `invalid_argument`, `io_failed`.
 */
export async function listenOnSocket(server: Server, path: string): Promise<void> {
  if (process.platform === 'win32') throw invalidArgument('--socket', path, 'a system with Unix sockets: use --port')
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw invalidArgument('--socket', path, `an absolute path of at most ${MAX_PATH_BYTES} bytes`)
  }
  await removeStale(path)
  const bound = Promise.withResolvers<void>()
  server.once('listening', bound.resolve)
  server.once('error', bound.reject)
  // The file is made while `listen` runs, by the permissions that the mask leaves: nobody else can open it before it has its mode.
  const mask = process.umask(0o777 & ~OWNER_ONLY)
  try {
    server.listen(path)
  } finally {
    process.umask(mask)
  }
  try {
    await bound.promise
    chmodSync(path, OWNER_ONLY)
  } catch (cause) {
    throw ioFailed(path, cause)
  }
}

async function removeStale(path: string): Promise<void> {
  const there = lstatSync(path, { throwIfNoEntry: false })
  if (there === undefined) return
  if (!there.isSocket()) throw invalidArgument('--socket', path, 'a path where nothing is, or a socket')
  const code = await connectionError(path)
  if (code === null) throw invalidArgument('--socket', path, 'a socket that no other process listens on')
  if (code !== 'ECONNREFUSED' && code !== 'ENOENT') throw ioFailed(path, new Error(code))
  try {
    unlinkSync(path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw ioFailed(path, cause)
  }
}

/** Null: somebody answers. */
function connectionError(path: string): Promise<string | null> {
  return new Promise(resolve => {
    const probe = connect(path)
    probe.once('connect', () => {
      probe.destroy()
      resolve(null)
    })
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  })
}

function ioFailed(path: string, cause: unknown): QuerentError {
  const message = cause instanceof Error ? cause.message : String(cause)
  return new QuerentError('io_failed', `cannot listen on ${path}: ${message}`, { path, cause: message }, cause)
}
