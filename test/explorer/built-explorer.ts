/** The explorer's page as it is built now. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildWhenOlder } from '../support/build-once.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

export function buildExplorerWhenOlder(): void {
  buildWhenOlder({ folder: join(root, 'dist/explorer'), sources: [join(root, 'explorer')], mark: 'index.html', build })
}

function build(folder: string): void {
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  const { status, stderr } = spawnSync(
    process.execPath,
    [vite, 'build', 'explorer', '--logLevel', 'error', '--outDir', folder],
    { cwd: root, encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`the explorer cannot be built: ${stderr}`)
}
