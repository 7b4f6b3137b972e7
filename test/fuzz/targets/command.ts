/** The command line: `call` with any operation and any text as input, and questions as arguments. No stack, a known end. */
import { rmSync } from 'node:fs'
import fc from 'fast-check'
import type { Json } from '../../../src/base/canonical.ts'
import { querentHere } from '../../support/in-process.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { SEED_CALLS } from '../calls/seed-calls.ts'
import { SETUP } from '../calls/setup.ts'
import { isObject, type Target, textEdit, wireText } from '../inputs.ts'
import { must } from '../oracles.ts'
import { type AnyCall, callsNear } from './operations.ts'

/** `as`: how the input is given. */
interface Command {
  readonly call: AnyCall
  readonly as: 'stdin' | 'argument' | 'question'
  /** Instead of the input: a text that need not be JSON. */
  readonly text: string | null
}

/** They read and write files at any given path, or work for seconds. */
const LEFT_OUT = /^(add|backup|beliefs\.diagnostics|context\.(index|body_.*))$/
const SEEDS: readonly Command[] = SEED_CALLS.filter(({ operation }) => !LEFT_OUT.test(operation)).map(call => ({
  ...{ call, text: null },
  as: call.operation === 'query' ? 'question' : 'stdin',
}))

/** Half of them with a changed text instead of a changed call. */
function near(
  good: readonly Command[],
  calls: (good: readonly AnyCall[]) => fc.Arbitrary<AnyCall>,
): fc.Arbitrary<Command> {
  return fc
    .record({
      call: calls(good.map(({ call }) => call)),
      as: fc.constantFrom('stdin', 'argument', 'question'),
      edit: fc.option(textEdit()),
    })
    .map(({ call, as, edit }) => ({ call, as, text: edit?.(wireText(call.input)).slice(0, 5000) ?? null }))
}

export async function commandTarget(): Promise<Target<Command>> {
  const calls = await callsNear()
  return {
    near: good => near(good, calls),
    seeds: SEEDS,
    lifetime: 200,
    open: async () => {
      const place = tempFolder()
      const run = (args: readonly string[], stdin?: string) =>
        querentHere(args, { cwd: place.path, env: { QUERENT_EMBEDDER: 'none' }, stdin })
      await run(['init'])
      for (const { operation, viewer, input } of SETUP) {
        if (!LEFT_OUT.test(operation)) await run(['call', operation, '-', '--viewer', viewer], JSON.stringify(input))
      }
      return {
        try: command => tryCommand(run, command),
        close: () => rmSync(place.path, { recursive: true, force: true }),
      }
    },
  }
}

type Run = (
  args: readonly string[],
  stdin?: string,
) => Promise<{ status: number | null; stdout: string; stderr: string }>

async function tryCommand(run: Run, { call, as, text }: Command): Promise<void> {
  const { operation, viewer, input } = call
  if (LEFT_OUT.test(operation)) return
  const given = text ?? wireText(input)
  const who = ['--viewer', viewer]
  if (as === 'question') {
    const asked = isObject(input) && typeof input['text'] === 'string' ? input['text'] : given
    return assertEndsWell(await run(['query', '--json', ...who, '--', asked]), true)
  }
  const args = as === 'stdin' ? ['-'] : [given]
  assertEndsWell(await run(['call', ...who, '--', operation, ...args], as === 'stdin' ? given : undefined), false)
}

/** As the guide of the command line says: 0 to 3. */
function assertEndsWell({ status, stdout, stderr }: Awaited<ReturnType<Run>>, isQuestion: boolean): void {
  const all = stdout + stderr
  if (/\n\s+at .*\.ts:\d+/.test(all)) {
    const error = new Error(all.split('\n', 1)[0])
    error.stack = all
    throw error
  }
  must(!/"code":\s*"internal"/.test(all) && !/querent: internal/.test(all), all.slice(0, 500))
  must(status !== null && status <= 3, `the end is ${status}: ${all.slice(0, 300)}`)
  if (status !== 0 || isQuestion) return
  const answer: Json = JSON.parse(stdout)
  must(answer !== null, 'no answer')
}
