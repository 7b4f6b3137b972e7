/** The command `querent skills install`, which installs the skills for agents that come with the package. */
import { resolve } from 'node:path'
import { installSkills } from '../../../openings/skills.ts'
import type { CommonFlags } from '../flags.ts'
import type { Cli } from '../io.ts'
import { all, each } from '../render/answer.ts'
import { print } from './print.ts'

interface InstallFlags extends CommonFlags {
  readonly dir: string
  readonly lens: 'collections' | 'c64'
  readonly lang: 'es' | 'en'
  readonly force?: true
}

export async function runInstall(cli: Cli, flags: InstallFlags): Promise<void> {
  const folder = resolve(cli.io.workingFolder, flags.dir)
  const report = installSkills({ folder, lens: flags.lens, lang: flags.lang, force: flags.force === true })
  const text = all(
    each('written', 'written    {}'),
    each('unchanged', 'unchanged  {}'),
    each('kept', 'kept       {}: it was changed; --force overwrites it'),
  )
  await print(cli, flags, report, text)
}
