/** Asks a person at the terminal; only a plain yes is one. */
import { printable } from '../../base/printable.ts'
import { type Io, streamOf } from './io.ts'

export async function confirm({ stdin, stderr }: Io, question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline')
  const lines = createInterface({ input: stdin, output: streamOf(stderr) })
  const answer = await new Promise<string>(resolve => {
    lines.once('close', () => resolve(''))
    lines.question(`${printable(question)} [y/N] `, resolve)
  })
  lines.close()
  return /^y(es)?$/i.test(answer.trim())
}
