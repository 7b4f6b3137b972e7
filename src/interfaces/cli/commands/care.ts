/** `doctor`, `backup`, and what reads a damaged store. */

import type { JsonObject } from '../../../base/canonical.ts'
import { examineClosed, isOfStore } from '../../../engine/care/doctor-files.ts'
import { backUpReadable, homeOf, withSalvaged } from '../../../engine/care/salvage.ts'
import type { Engine, Examination } from '../../../engine/engine.ts'
import type { BackupRequest, DoctorRequest } from '../../../model/care-input.ts'
import type { CallContext as EngineContext } from '../../../model/operation.ts'
import { LOCAL_OWNER } from '../../../model/viewer.ts'
import type { CommonFlags } from '../flags.ts'
import { write } from '../io.ts'
import type { CallContext } from '../operation-command.ts'
import { oneLine } from '../render/style.ts'
import { type Cli, EXIT } from '../run.ts'
import { requireOwner } from '../session.ts'

/** A store that no engine can be opened on is looked at from outside, and once more from inside where that repaired it. */
export async function examined(input: DoctorRequest, { cli, flags, run }: CallContext): Promise<Examination> {
  const open = () => run<Examination>()
  try {
    return await open()
  } catch (error) {
    if (!isOfStore(error)) throw error
    requireOwner(cli, flags)
    const outside = await examineClosed(homeOf(flags.home), error, input, Date.now())
    if (!outside.findings.some(({ repaired }) => repaired !== null)) return outside
    const inside = await open().catch(() => null)
    if (inside === null) return outside
    const known = outside.findings.filter(({ repaired }) => repaired !== null)
    const others = inside.findings.filter(({ check }) => !known.some(one => one.check === check))
    return { ...inside, findings: [...known, ...others], backup: outside.backup }
  }
}

/** With `--skip-damaged`: what can be read. */
export async function backedUp(input: JsonObject, { cli, flags, run, report }: CallContext): Promise<object> {
  if (flags['skipDamaged'] !== true) return run()
  requireOwner(cli, flags)
  const request = input as unknown as BackupRequest
  const { lost, ...copy } = await backUpReadable(homeOf(flags.home), Date.now(), request, { report })
  reportLost(cli, lost)
  return copy
}

/** `export --skip-damaged`: the lines of what can be read. */
export async function exportReadable(
  cli: Cli,
  flags: CommonFlags,
  body: (engine: Engine, context: EngineContext) => Promise<void>,
): Promise<void> {
  requireOwner(cli, flags)
  await withSalvaged(homeOf(flags.home), Date.now(), async (engine, { lost }) => {
    await body(engine, { viewer: LOCAL_OWNER, signal: cli.signal })
    reportLost(cli, lost)
  })
}

/** On standard error, beside what was saved; the exit code says that it is not all. */
function reportLost(cli: Cli, lost: readonly string[]): void {
  for (const line of lost) void write(cli.io.stderr, `lost: ${oneLine(line)}\n`)
  if (lost.length > 0) cli.exitCode = EXIT.failed
}
