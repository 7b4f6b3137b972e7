import { describe, expect, it } from 'vitest'
import { isEnglishQuestion, language, languagesOfQuestion, shownLanguage } from '../../../src/text/language.ts'
import { stem } from '../../../src/text/stem.ts'
import { LANGUAGES, stopWords } from '../../../src/text/stopwords.ts'
import { tokenise } from '../../../src/text/tokenise.ts'

describe('the language of a text', () => {
  it.each([
    ['en', 'The cat sat on the mat and was not seen again.'],
    ['es', 'El gato come pescado en la cocina y no quiere salir.'],
    ['es', 'Canción de cuna'],
    ['es', 'La búsqueda por palabras'],
    ['fr', 'Le chat est dans la cuisine et ne veut pas sortir.'],
    ['de', 'Der Hund liegt im Garten und schläft nicht.'],
    ['it', 'Il gatto è nella cucina e non vuole uscire.'],
    ['pt', 'O gato está na cozinha e não quer sair de lá.'],
    ['nl', 'De kat zit in de keuken en wil niet naar buiten'],
    ['sv', 'Katten sitter i köket och vill inte gå ut'],
    ['da', 'Katten sidder i køkkenet og vil ikke ud'],
    ['no', 'Katten sitter på kjøkkenet og vil ikke gå ut'],
    ['fi', 'Kissa istuu keittiössä eikä halua mennä ulos'],
    ['hu', 'A macska a konyhában ül és nem akar kimenni'],
    ['ro', 'Pisica stă în bucătărie și nu vrea să iasă'],
    ['tr', 'Kedi mutfakta oturuyor ve dışarı çıkmak istemiyor'],
    ['ru', 'Кошка сидит на кухне и не хочет выходить'],
    ['uk', 'Кіт сидить на кухні і не хоче виходити'],
    ['el', 'Η γάτα κάθεται στην κουζίνα και δεν θέλει να βγει'],
    ['ar', 'القطة تجلس في المطبخ ولا تريد الخروج'],
    ['hy', 'Կատուն նստած է խոհանոցում'],
    ['hi', 'बिल्ली रसोई में बैठी है और बाहर नहीं जाना चाहती'],
    ['ne', 'बिरालो भान्सामा बसेको छ र बाहिर जान चाहँदैन'],
    ['en', ''],
    ['en', 'música'],
    ['en', 'C64 memory map: $D020 border colour'],
    ['en', 'todo list'],
    ['en', 'a trip to Los Angeles with my son'],
    ['en', 'const el = document.querySelector(de); if (el) return this.value'],
    ['en', '東京都の天気'],
    ['en', '\ud800\u0000'],
  ])('%s: %s', (expected, text) => expect(language(text)).toBe(expected))

  it('is not turned by one quotation', () => {
    expect(language('He said "hasta la vista" to the machine, and it was over.')).toBe('en')
  })
})

describe('the languages of a question', () => {
  it.each([
    [['en'], 'what is this'],
    [['en'], 'sin city'],
    [['en'], 'my son'],
    [['en'], 'vectors'],
    [['es', 'fr', 'it', 'pt'], 'la musica'],
    [['es'], 'qué canciones hay en la radio'],
    [['de'], 'wo ist der Hund'],
  ])('%j: %s', (expected, question) => {
    const words = tokenise(question).map(token => token.term)
    expect(languagesOfQuestion(words)).toEqual(expected)
  })
})

describe('the language that a text shows', () => {
  it.each([
    ['zh', '猫坐在厨房里'],
    ['ja', '猫は台所に座っています'],
    ['ko', '고양이가 부엌에 앉아 있다'],
    ['th', 'แมวนั่งอยู่ในครัว'],
    ['fa', 'گربه چاقی کجاست'],
    ['es', 'El gato come pescado en la cocina'],
    ['en', 'where is the cat'],
    [null, 'Kafka'],
    [null, 'Wer war Marie Curie?'],
    [null, ''],
    ['en', 'the word 猫 means cat'],
  ])('%s: %s', (expected, text) => expect(shownLanguage(text)).toBe(expected))
})

describe('a question that is English', () => {
  it.each([
    'how do agents remember',
    'What is new in MCP servers?',
    'protect a project from a poisoned package',
    'the state of agents',
  ])('is recognised: %s', question => {
    expect(isEnglishQuestion(question.split(/[ ?]+/))).toBe(true)
  })

  it.each([
    'MCP servers',
    'agent memory',
    '',
    'memoria a largo plazo',
    'me interesa no so',
    'qué hay de nuevo sobre servidores MCP',
    'noticias de la empresa The Verge',
    'was ist neu an MCP',
  ])('is not seen in %s', question => {
    expect(isEnglishQuestion(question.split(' '))).toBe(false)
  })
})

describe('stop lists', () => {
  it('have the 123 measured English words, and e.g. and i.e.', () => {
    expect(stopWords('en').size).toBe(125)
  })

  it('hold words as the tokeniser gives them', () => {
    for (const of of LANGUAGES) {
      for (const word of stopWords(of)) expect(tokenise(word).map(token => token.term)).toEqual([word])
    }
  })
})

describe('stems: words in one line meet', () => {
  it.each([
    ['en', 'connection connections connected connecting connect'],
    ['en', 'compute computing computed computation computer'],
    ['en', 'query queries'],
    ['es', 'cancion canciones'],
    ['es', 'programacion programaciones programa programas'],
    ['es', 'nacio nacer nacido'],
    ['es', 'comia comer comida'],
    ['es', 'historia historias historico'],
    ['es', 'ano anos'],
    ['es', 'consulta consultas consultar'],
    ['es', 'tecnologia tecnologias'],
    ['fr', 'continuelle continuellement'],
    ['de', 'haus hauser'],
    ['it', 'nazionale nazionali'],
    ['pt', 'informacao informacoes'],
  ] as const)('%s: %s', (of, line) => {
    const stems = line.split(' ').map(word => stem(word, of))
    expect(new Set(stems).size, stems.join(' ')).toBe(1)
  })

  it('leaves terms with digits and signs alone', () => {
    for (const term of ['d020', 'v1.2.3', 'c++', '1980s', 'abc123s']) expect(stem(term, 'en')).toBe(term)
  })

  it('tells words apart that differ', () => {
    expect(stem('connection', 'en')).toBe('connect')
    expect(stem('news', 'en')).not.toBe(stem('newer', 'en'))
    expect(stem('constructor', 'en')).toBe('constructor')
  })
})
