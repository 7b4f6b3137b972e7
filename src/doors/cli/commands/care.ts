/** `doctor`, `backup`. */
import { resolve } from 'node:path'
import { backup, doctor } from '../../../ops/admin-ops.ts'
import { EXIT } from '../failure.ts'
import type { CommonFlags } from '../flags.ts'
import { progressBar } from '../progress.ts'
import { backupText, doctorText } from '../render/reports.ts'
import type { Cli } from '../run.ts'
import { withSession } from '../session.ts'
import { print } from './print.ts'

interface DoctorFlags extends CommonFlags {
  readonly repair?: true
  readonly backup: boolean
}

export async function runDoctor(cli: Cli, flags: DoctorFlags): Promise<void> {
  const input = { repair: flags.repair === true, backup: flags.backup }
  const answer = await withSession(cli, flags, {}, session => session.run(doctor, input))
  await print(cli, flags, answer, { table: style => doctorText(answer, style) })
  if (!answer.ok) cli.exitCode = EXIT.failed
}

interface BackupFlags extends CommonFlags {
  readonly overwrite?: true
}

export async function runBackup(cli: Cli, file: string, flags: BackupFlags): Promise<void> {
  const input = { to: resolve(cli.io.workingFolder, file), overwrite: flags.overwrite === true }
  const started = performance.now()
  using bar = await progressBar(cli.io)
  const answer = await withSession(cli, flags, { report: bar.report }, session => session.run(backup, input))
  bar[Symbol.dispose]()
  const ms = Math.round(performance.now() - started)
  await print(cli, flags, answer, { table: () => backupText(answer, ms) })
}
