import { writeSync } from 'node:fs'

/** A line for the parent, an object as JSON: synchronously, so that a line that is out tells of something that happened before. */
export function say(line: string | object): void {
  writeSync(1, `${typeof line === 'string' ? line : JSON.stringify(line)}\n`)
}
