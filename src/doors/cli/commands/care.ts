/** `doctor`, `backup`, and what reads a damaged store. */

import { resolve } from 'node:path'
import { examineClosed, isOfStore } from '../../../engine/care/doctor-closed.ts'
import { backUpReadable, homeOf, withSalvaged } from '../../../engine/care/salvage.ts'
import type { Backup, Engine, Examination } from '../../../engine/engine.ts'
import type { BackupRequest, DoctorRequest } from '../../../model/care-input.ts'
import { QuerentError } from '../../../model/errors.ts'
import type { CallContext } from '../../../model/operation.ts'
import { isOwner, LOCAL_OWNER } from '../../../model/viewer.ts'
import { backup, doctor } from '../../../ops/admin-ops.ts'
import { EXIT } from '../failure.ts'
import type { CommonFlags } from '../flags.ts'
import { write } from '../io.ts'
import { type Report, withProgress } from '../progress.ts'
import { backupText, doctorText } from '../render/reports.ts'
import { oneLine } from '../render/style.ts'
import type { Cli } from '../run.ts'
import { viewerOf, withSession } from '../session.ts'
import { print } from './print.ts'

interface DoctorFlags extends CommonFlags {
  readonly repair?: true
  readonly backup: boolean
}

export async function runDoctor(cli: Cli, flags: DoctorFlags): Promise<void> {
  const answer = await examined(cli, flags, { repair: flags.repair === true, backup: flags.backup })
  await print(cli, flags, answer, { table: style => doctorText(answer, style) })
  if (!answer.ok) cli.exitCode = EXIT.failed
}

/** A store that no engine can be opened on is looked at from outside, and once more from inside where that mended it. */
async function examined(cli: Cli, flags: DoctorFlags, input: DoctorRequest): Promise<Examination> {
  const open = () => withSession(cli, flags, {}, session => session.run(doctor, input))
  try {
    return await open()
  } catch (error) {
    if (!isOfStore(error)) throw error
    mustBeOwner(cli, flags)
    const outside = await examineClosed(homeOf(flags.home), error, input, Date.now())
    if (!outside.findings.some(({ repaired }) => repaired !== null)) return outside
    const inside = await open().catch(() => null)
    if (inside === null) return outside
    const told = outside.findings.filter(({ repaired }) => repaired !== null)
    const others = inside.findings.filter(({ check }) => !told.some(one => one.check === check))
    return { ...inside, findings: [...told, ...others], backup: outside.backup }
  }
}

function mustBeOwner(cli: Cli, flags: CommonFlags): void {
  if (isOwner(viewerOf(flags.viewer, cli.io.env['QUERENT_VIEWER']))) return
  throw new QuerentError('denied', 'this is for the local owner only', {})
}

interface BackupFlags extends CommonFlags {
  readonly overwrite?: true
  readonly skipDamaged?: true
}

export async function runBackup(cli: Cli, file: string, flags: BackupFlags): Promise<void> {
  const input = { to: resolve(cli.io.workingFolder, file), overwrite: flags.overwrite === true }
  const started = performance.now()
  const answer = await withProgress(cli.io, report =>
    flags.skipDamaged === true
      ? readable(cli, flags, input, report)
      : withSession(cli, flags, { report }, session => session.run(backup, input)),
  )
  const ms = Math.round(performance.now() - started)
  await print(cli, flags, answer, { table: () => backupText(answer, ms) })
}

async function readable(cli: Cli, flags: BackupFlags, input: BackupRequest, report: Report): Promise<Backup> {
  mustBeOwner(cli, flags)
  const { lost, ...copy } = await backUpReadable(homeOf(flags.home), Date.now(), input, { report })
  tellLost(cli, lost)
  return copy
}

/** `export --skip-damaged`: the lines of what can be read. */
export async function exportReadable(
  cli: Cli,
  flags: CommonFlags,
  body: (engine: Engine, context: CallContext) => Promise<void>,
): Promise<void> {
  mustBeOwner(cli, flags)
  await withSalvaged(homeOf(flags.home), Date.now(), async (engine, { lost }) => {
    await body(engine, { viewer: LOCAL_OWNER, signal: cli.signal })
    tellLost(cli, lost)
  })
}

/** On standard error, beside what was saved; the exit code says that it is not all. */
function tellLost(cli: Cli, lost: readonly string[]): void {
  for (const line of lost) void write(cli.io.stderr, `lost: ${oneLine(line)}\n`)
  if (lost.length > 0) cli.exitCode = EXIT.failed
}
