/**
 * Writes docs/context-tokens.md: what an agent reads until it has seen the answer to twenty questions about this
 * repository, by `querent context` and by searching for words and reading files. The first run takes minutes: it embeds all
 * of src.
 */
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheOnDisk } from '../bench/lib/cached-embedder.ts'
import { QUESTIONS } from '../bench/lib/code-questions.ts'
import { askContext, codeFiles, type Reading, searchAndRead } from '../bench/lib/code-reading.ts'
import { tokensPage } from '../bench/lib/tokens-page.ts'
import { openEmbedder } from '../src/embed/open-embedder.ts'
import { openContext } from '../src/openings/context.ts'
import { modelFolder } from '../test/support/model.ts'
import { tempFolder } from '../test/support/temp-folder.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const files = codeFiles(join(root, 'src'))
modelFolder()

const ways = [
  { name: 'context, with the default model', readings: await askAll('local') },
  { name: 'context, words alone', readings: await askAll('none') },
  { name: 'search, lines around', readings: QUESTIONS.map(question => searchAndRead(files, question, 'around')) },
  { name: 'search, whole files', readings: QUESTIONS.map(question => searchAndRead(files, question, 'whole')) },
]
writeFileSync(join(root, 'docs/context-tokens.md'), tokensPage(QUESTIONS, ways, files))

async function askAll(embedder: 'local' | 'none'): Promise<readonly Reading[]> {
  using folder = tempFolder()
  cpSync(join(root, 'src'), folder.path, { recursive: true })
  await indexSource(folder.path, embedder)
  const readings: Reading[] = []
  for (const question of QUESTIONS) {
    const reading = await askContext(folder.path, question, { QUERENT_EMBEDDER: embedder })
    console.error(`${question.text} ${JSON.stringify(reading)}`)
    readings.push(reading)
  }
  return readings
}

/** As `querent context index` does, but that vectors of texts met before come from the disk. */
async function indexSource(folder: string, name: 'local' | 'none'): Promise<void> {
  const local = name === 'local' ? await openEmbedder({ provider: 'local' }, { baseFolder: folder, env: {} }) : null
  const embedder = local === null ? 'none' : cacheOnDisk(local)
  await using sys = await openContext({ home: join(folder, '.querent'), create: true, embedder, background: false })
  const { errors } = await sys.call('/context/index')
  if (errors !== null) throw new Error(JSON.stringify(errors))
}
