/**
 * The embedding worker thread, which keeps inference off the engine's event loop. It embeds one text at a time and reads messages between
 * two texts, so that a query overtakes waiting passages and a cancelled request ends.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { must } from '../base/assert.ts'
import { nextTurn } from '../base/turns.ts'
import type { FromWorker, ToWorker } from './embed-thread.ts'
import { SentenceModel, type SentenceModelParts } from './sentence-model.ts'
import { RunGate } from './stoppable-thread.ts'

interface Job {
  readonly id: number
  readonly texts: readonly string[]
  readonly vectors: Float32Array[]
}

const port: MessagePort = must(parentPort, 'the port to the owner')
const gate = new RunGate(workerData as SharedArrayBuffer)
const questions: Job[] = []
const passages: Job[] = []
let model: SentenceModel | null = null
let working = false

port.on('message', (message: ToWorker) => {
  if (message.type === 'load') void load(message.parts)
  else if (message.type === 'cancel') remove(message.id)
  else {
    const queue = message.kind === 'query' ? questions : passages
    queue.push({ id: message.id, texts: message.texts, vectors: [] })
    if (model !== null && !working) void work(model)
  }
})

async function load(parts: SentenceModelParts): Promise<void> {
  try {
    model = await gate.pass(() => SentenceModel.open(parts))
    if (model === null) return
    say({ type: 'ready', runtime: model.runtime })
    await work(model)
  } catch (error) {
    say({ type: 'unusable', reason: String(error) })
  }
}

async function work(model: SentenceModel): Promise<void> {
  working = true
  for (let job = nextJob(); job !== undefined; job = nextJob()) {
    await embedNext(job, model)
    await nextTurn()
  }
  working = false
}

function nextJob(): Job | undefined {
  return questions[0] ?? passages[0]
}

/** Embeds the next text of a job, and sends the job's answer after its last text. */
async function embedNext(job: Job, model: SentenceModel): Promise<void> {
  try {
    const text = must(job.texts[job.vectors.length], 'a text to embed')
    const vector = await gate.pass(() => model.embed(text))
    if (vector === null) return dropAll()
    job.vectors.push(vector)
    if (job.vectors.length < job.texts.length) return
    remove(job.id)
    const values = joined(job.vectors)
    say({ type: 'vectors', id: job.id, values }, [values.buffer])
  } catch (error) {
    remove(job.id)
    say({ type: 'rejected', id: job.id, reason: String(error) })
  }
}

function remove(id: number): void {
  for (const queue of [questions, passages]) {
    const at = queue.findIndex(job => job.id === id)
    if (at >= 0) queue.splice(at, 1)
  }
}

/** Drops all texts that wait in this thread, because the owner is about to end the thread and has already rejected their requests. */
function dropAll(): void {
  questions.length = 0
  passages.length = 0
}

function joined(vectors: readonly Float32Array[]): Float32Array<ArrayBuffer> {
  const dimensions = vectors[0]?.length ?? 0
  const values = new Float32Array(vectors.length * dimensions)
  vectors.forEach((vector, i) => {
    values.set(vector, i * dimensions)
  })
  return values
}

function say(message: FromWorker, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer)
}
