// Makes dist/explorer: the page with everything it needs, and the licences of the packages in it.
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { licenceOf } from './licence-of.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** `folder`: absolute; emptied first. */
export async function buildExplorer(folder: string = join(root, 'dist/explorer')): Promise<void> {
  const packages = new Set<string>()
  await build({
    configFile: join(root, 'explorer/vite.config.ts'),
    logLevel: 'error',
    build: { outDir: folder, emptyOutDir: true },
    plugins: [
      {
        name: 'bundled-packages',
        generateBundle(_options, bundle) {
          for (const chunk of Object.values(bundle)) {
            if (chunk.type !== 'chunk') continue
            for (const name of chunk.moduleIds.flatMap(packageOf)) packages.add(name)
          }
        },
      },
    ],
  })
  writeFileSync(join(folder, 'LICENCES.txt'), [...packages].sort().map(licenceOf).join('\n\n'))
  assertSelfContained(folder)
}

function packageOf(id: string): readonly string[] {
  const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1]
  return name === undefined || !existsSync(join(root, 'node_modules', name)) ? [] : [name]
}

/** The page is served under a policy that lets it load nothing from elsewhere. */
function assertSelfContained(folder: string): void {
  for (const file of globSync('**/*.{html,css}', { cwd: folder })) {
    const [found] =
      /(?:src|href)="https?:[^"]*"|url\(\s*["']?https?:[^)]*/.exec(readFileSync(join(folder, file), 'utf8')) ?? []
    if (found !== undefined) throw new Error(`the explorer would ask another server: ${file} has ${found}`)
  }
}
