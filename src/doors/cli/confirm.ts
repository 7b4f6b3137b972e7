/** Asks a person at the terminal; only a plain yes is one. */
import type { Io } from './io.ts'

export async function confirm({ stdin, stderr }: Io, question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline')
  const lines = createInterface({ input: stdin, output: stderr })
  const answer = await new Promise<string>(resolve => {
    lines.once('close', () => resolve(''))
    lines.question(`${question} [y/N] `, resolve)
  })
  lines.close()
  return /^y(es)?$/i.test(answer.trim())
}
