/** The asking side of the process that erases: started each time, for erasing is rare and a start costs some 50 ms. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { siblingModule } from '../../base/module-url.ts'
import { QuerentError } from '../../model/errors.ts'

const run = promisify(execFile)
/** To read a file of a hundred gigabytes. */
const LONGEST_MS = 600_000

/** As `eraseInFile`, whose failures become `io_failed`. */
export async function eraseAside(file: string, mark: string, waitMs: number): Promise<boolean> {
  const script = fileURLToPath(siblingModule(import.meta.url, 'erase-worker'))
  // For programs that are built around Node.
  const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1' }
  try {
    const { stdout } = await run(process.execPath, [script, file, mark, String(waitMs)], { env, timeout: LONGEST_MS })
    return JSON.parse(stdout) === true
  } catch (error) {
    const cause = String(error)
    throw new QuerentError(
      'io_failed',
      `${file}: erasing what was deleted failed (${cause})`,
      { path: file, cause },
      error,
    )
  }
}
