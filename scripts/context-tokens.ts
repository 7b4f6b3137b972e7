/**
 * Writes docs/context-tokens.md: what an agent reads until it has seen the answer to twenty questions about this
 * repository, by `querent context` and by searching for words and reading files. Takes minutes: it embeds all of src.
 */
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { QUESTIONS } from '../bench/lib/code-questions.ts'
import { askContext, codeFiles, indexFolder, type Reading, searchAndRead } from '../bench/lib/code-reading.ts'
import { tokensPage } from '../bench/lib/tokens-page.ts'
import { tempFolder } from '../src/testing/temp-folder.ts'
import { modelFolder } from '../test/support/model.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const files = codeFiles(join(root, 'src'))
modelFolder()

const ways = [
  { name: 'context, with the default model', readings: await askAll({ QUERENT_EMBEDDER: 'local' }) },
  { name: 'context, words alone', readings: await askAll({ QUERENT_EMBEDDER: 'none' }) },
  { name: 'search, lines around', readings: QUESTIONS.map(question => searchAndRead(files, question, 'around')) },
  { name: 'search, whole files', readings: QUESTIONS.map(question => searchAndRead(files, question, 'whole')) },
]
writeFileSync(join(root, 'docs/context-tokens.md'), tokensPage(QUESTIONS, ways, files))

async function askAll(env: Readonly<Record<string, string>>): Promise<readonly Reading[]> {
  using folder = tempFolder()
  cpSync(join(root, 'src'), folder.path, { recursive: true })
  console.error(await indexFolder(folder.path, env))
  const readings: Reading[] = []
  for (const question of QUESTIONS) {
    const reading = await askContext(folder.path, question, env)
    console.error(`${question.text} ${JSON.stringify(reading)}`)
    readings.push(reading)
  }
  return readings
}
