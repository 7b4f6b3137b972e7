/** The library that makes input and output fail (`shim.c`), compiled for a test with the compiler of the machine. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Why there is none here, in words for the name of a test; null where there is one. */
export const NO_SHIM: string | null = reason()

/** The path of the compiled library. */
export function buildShim(target: string): string {
  const source = fileURLToPath(new URL('shim.c', import.meta.url))
  const flags = ['-shared', '-fPIC', '-O2', '-Wall', '-Wextra', '-Werror']
  execFileSync('cc', [...flags, '-o', target, source, '-ldl'], { stdio: 'inherit' })
  return target
}

/** Preloading a library is a thing of Linux here; other systems do it otherwise. */
function reason(): string | null {
  if (process.platform !== 'linux') return 'skipped: not on Linux'
  try {
    execFileSync('cc', ['--version'], { stdio: 'ignore' })
    return null
  } catch {
    return 'skipped: no C compiler here'
  }
}
