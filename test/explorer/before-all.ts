/** Before the explorer's tests: the pages as they are built now, and one Chromium for all files. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'
import { buildDocsPage } from '../../scripts/build-docs-page.ts'
import { buildWhenOlder } from '../support/build-once.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where to connect to the browser. Null: there is none, and nobody may install one here. */
    browser: string | null
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Returns what ends the browser. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const sourcesOf = (folder: string) => [join(root, folder), join(root, 'package-lock.json')]
  buildWhenOlder({
    folder: join(root, 'dist/explorer'),
    sources: sourcesOf('explorer'),
    mark: 'index.html',
    build: buildExplorer,
  })
  buildWhenOlder({
    folder: join(root, 'dist/docs'),
    sources: sourcesOf('scripts/docs-page'),
    mark: 'LICENCES.txt',
    build: buildDocsPage,
  })
  const executablePath = findChromium()
  if (executablePath === null) {
    project.provide('browser', null)
    return undefined
  }
  const server = await chromium.launchServer({ executablePath, args: ['--disable-dev-shm-usage'] })
  project.provide('browser', server.wsEndpoint())
  return () => server.close()
}

function buildExplorer(folder: string): void {
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  const args = [vite, 'build', 'explorer', '--logLevel', 'error', '--outDir', folder]
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`the explorer cannot be built: ${stderr}`)
}

/** Installs one only where that is nobody's own machine: as root (a container), or in continuous integration. */
function findChromium(): string | null {
  const mayInstall = process.getuid?.() === 0 || process.env['CI'] !== undefined
  const script = join(root, 'scripts/install-chromium.sh')
  const { status, stdout } = spawnSync('sh', [script, ...(mayInstall ? [] : ['--only-find'])], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : null
}
