/** Why a bundle is not installed, or why a version did not stay: a sentence for people. */
export class UpdateRefusal extends Error {
  constructor(sentence: string, options?: ErrorOptions) {
    super(sentence, options);
    this.name = 'UpdateRefusal';
  }
}
