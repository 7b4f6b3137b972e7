/** What questions ask for besides their words, in English and Spanish. */
import { describe, expect, it } from 'vitest'
import { namedSpeaker, questionOf, speakersOf } from '../../../../../src/lenses/conversations/asking/question.ts'

const WHEN = [
  'When did Mira move the kiln?',
  'how long has she lived there',
  'What year did they meet?',
  'In which month is the fair?',
  'Since when does Tom paint?',
  '¿Cuándo se mudó Mira?',
  'cuando llega el tren',
  '¿Desde cuándo pinta?',
  '¿En qué mes es la feria?',
  '¿A qué hora sale?',
  '¿Cuánto tiempo lleva allí?',
  '¿Hace cuánto que vive en Lugo?',
]
const NOT_WHEN = [
  'Where is the kiln?',
  'What did Mira say when she left?',
  'Whenever',
  '¿Qué dijo Mira?',
  '¿Cuántos hay?',
]

const OF_ASSISTANT = [
  'What did you recommend for dinner?',
  'Which of your ideas was cheapest?',
  '¿Qué me recomendaste?',
  '¿Qué plan me preparaste?',
  '¿Cuál fue tu consejo?',
  '¿Qué has dicho del horno?',
]
const NOT_OF_ASSISTANT = [
  'Can you remind me where I parked?',
  'Could you tell me my budget?',
  'What is my budget?',
  '¿Puedes decirme mi presupuesto?',
  '¿Cuál es mi color?',
]

describe('a question', () => {
  it.each(WHEN)('%s: asks for a time', text => expect(questionOf(text).when).toBe(true))
  it.each(NOT_WHEN)('%s: does not', text => expect(questionOf(text).when).toBe(false))
  it.each(OF_ASSISTANT)('%s: is about the assistant', text => expect(questionOf(text).ofAssistant).toBe(true))
  it.each(NOT_OF_ASSISTANT)('%s: is not', text => expect(questionOf(text).ofAssistant).toBe(false))

  it.each([
    'Where do I live now?',
    'my current job',
    'the latest plan',
    '¿Dónde vivo ahora?',
    '¿Cuál es mi plan actual?',
  ])('%s: asks how things are now', text => expect(questionOf(text).now).toBe(true))
  it.each(['Where did I live?', 'Do you know it?'])('%s: does not', text => expect(questionOf(text).now).toBe(false))
})

describe('the speaker whom a question names', () => {
  const named = (text: string, speakers: readonly string[]) => namedSpeaker(speakersOf(speakers), questionOf(text))

  it('is found by first name, in full, and with an ending', () => {
    expect(named('what is mira’s plan', ['Mira', 'Tom'])).toBe('Mira')
    expect(named('What did Ana say?', ['Ana López', 'Tom'])).toBe('Ana López')
    expect(named('¿Qué dijo José?', ['Jose', 'Ana'])).toBe('Jose')
  })

  it('is nobody where two are named, or none', () => {
    expect(named('What did Mira tell Tom?', ['Mira', 'Tom'])).toBeNull()
    expect(named('What did Ana López tell Tom?', ['Ana López', 'Tom Ruiz'])).toBeNull()
    expect(named('What was said?', ['Mira', 'Tom', ''])).toBeNull()
  })

  it('is recognised by the whole name where two share the first', () => {
    expect(named('What did Ana López say?', ['Ana López', 'Ana Ruiz'])).toBe('Ana López')
    expect(named('What did Ana say?', ['Ana López', 'Ana Ruiz'])).toBeNull()
  })

  it('is written as a name where it is a common word', () => {
    expect(named('will it rain', ['Will', 'Tom'])).toBeNull()
    expect(named('What did Will say?', ['Will', 'Tom'])).toBe('Will')
  })
})
