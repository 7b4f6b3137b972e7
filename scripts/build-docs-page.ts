// Makes dist/docs: Swagger UI over /openapi.json, with its licences.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { licenceOf } from './licence-of.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const PACKAGE = 'swagger-ui-dist'
const FILES = ['swagger-ui-bundle.js', 'swagger-ui.css']

/** `folder`: absolute; emptied first. */
export function buildDocsPage(folder: string = join(root, 'dist/docs')): void {
  const from = join(root, 'node_modules', PACKAGE)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  cpSync(join(root, 'scripts/docs-page'), folder, { recursive: true })
  for (const file of FILES) writeFileSync(join(folder, file), withoutMap(readFileSync(join(from, file), 'utf8')))
  const bundled = readFileSync(join(from, 'swagger-ui-bundle.js.LICENSE.txt'), 'utf8')
  const notice = readFileSync(join(from, 'NOTICE'), 'utf8')
  writeFileSync(join(folder, 'LICENCES.txt'), [licenceOf(PACKAGE), notice, bundled].join('\n\n'))
}

/** The map is not there to be asked for. */
function withoutMap(text: string): string {
  return text.replace(/(?:\/\/|\/\*)# sourceMappingURL=\S+(?:\s*\*\/)?\s*$/, '')
}
