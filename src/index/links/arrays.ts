/** Arrays of numbers that grow by doubling. Reading outside of them is a bug of the caller and gives what it gives. */

const FIRST_CAPACITY = 64

class Growing<Numbers extends Int32Array | Float64Array> {
  #numbers: Numbers
  #length = 0
  readonly #make: (capacity: number) => Numbers

  constructor(make: (capacity: number) => Numbers) {
    this.#make = make
    this.#numbers = make(FIRST_CAPACITY)
  }

  get length(): number {
    return this.#length
  }

  at(index: number): number {
    return this.#numbers[index] as number
  }

  /** At most at the end: there it appends. */
  set(index: number, value: number): void {
    if (index === this.#numbers.length) {
      const larger = this.#make(index * 2)
      larger.set(this.#numbers)
      this.#numbers = larger
    }
    this.#numbers[index] = value
    if (index === this.#length) this.#length++
  }
}

export class GrowingInts extends Growing<Int32Array> {
  constructor() {
    super(capacity => new Int32Array(capacity))
  }
}

export class GrowingDoubles extends Growing<Float64Array> {
  constructor() {
    super(capacity => new Float64Array(capacity))
  }
}
