/** How the demo asks: as a user would, each command shown before its answer. */
import { spawnSync } from 'node:child_process'

/** Ends the demo when the command fails. */
export function run(...argv: string[]): void {
  console.log(`\n$ querent ${argv.map(quote).join(' ')}`)
  const { status } = spawnSync(process.execPath, ['scripts/querent.ts', ...argv], { stdio: 'inherit' })
  if (status === 0) return
  console.error(`querent ${argv[0]} ended with ${status}`)
  process.exit(1)
}

function quote(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word}'`
}
