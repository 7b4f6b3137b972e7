/** Runs a program with all that it starts, for no longer than it may take. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface Bounds {
  readonly cwd: string
  readonly mostMs: number
  /** Beside the environment of this process. */
  readonly env?: Readonly<Record<string, string>>
}

/**
 * Its exit code; null where it was ended for taking too long. Nothing of what it started goes on behind it: whoever reads what
 * is printed waits for the last one that could print.
 */
export async function runBounded(program: string, args: readonly string[], bounds: Bounds): Promise<number | null> {
  const { cwd, mostMs, env } = bounds
  // A group of its own: what hangs is often not the program, but something that it has started.
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: 'inherit', detached: true })
  const ended = once(child, 'exit')
  const endAll = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // All have ended by themselves.
    }
  }
  const stop = (): void => {
    endAll()
    process.exit(130)
  }
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const timer = setTimeout(() => {
    console.log(`${args.join(' ')}: ended after ${Math.round(mostMs / 60_000)} minutes, as it would not end by itself`)
    endAll()
  }, mostMs)
  const [code] = (await ended) as [number | null]
  clearTimeout(timer)
  endAll()
  process.off('SIGINT', stop).off('SIGTERM', stop)
  return code
}
