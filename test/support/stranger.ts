import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';

type Role = 'button' | 'checkbox' | 'link' | 'tab';

/** Somebody who sees a page for the first time: finds things by what they are called, and each thing done is a step. */
export class Stranger {
  readonly page: Page;
  /** What was done, in order: a tap, a choice, a field filled, a slide drawn, a button held. */
  readonly steps: string[] = [];

  constructor(page: Page) {
    this.page = page;
  }

  async tap(name: string | RegExp, role: Role = 'button'): Promise<void> {
    this.#did(`tap ${name}`);
    await this.#named(role, name).click();
  }

  /** @param places from the upper left corner of the map, CSS pixels; each is a step */
  async tapMap(
    name: string | RegExp,
    ...places: readonly (readonly [x: number, y: number])[]
  ): Promise<void> {
    const map = this.page.getByRole('application', { name });
    for (const [x, y] of places) {
      this.#did(`tap the map at ${x}, ${y}`);
      await map.click({ position: { x, y } });
    }
  }

  async fill(name: string, value: string): Promise<void> {
    this.#did(`fill ${name}`);
    await this.page.getByLabel(name, { exact: true }).fill(value);
  }

  /** A finger draws the thumb from its beginning to its end. */
  async slide(name: string): Promise<void> {
    this.#did(`slide ${name}`);
    const track = this.#named('button', name);
    await track.scrollIntoViewIfNeeded();
    const { x, y, width, height } = (await track.boundingBox()) ?? expect.fail(`${name} is not in sight`);
    const { mouse } = this.page;
    await mouse.move(x + height / 2, y + height / 2);
    await mouse.down();
    await mouse.move(x + width - height / 2, y + height / 2, { steps: 5 });
    await mouse.up();
  }

  /** @param forMs longer than the button asks for */
  async hold(name: string, forMs = 1500): Promise<void> {
    this.#did(`hold ${name}`);
    await this.#named('button', name).click({ delay: forMs });
  }

  /** What is done away from the page, such as a command typed on the node. */
  async elsewhere(what: string, done: Promise<unknown>): Promise<void> {
    this.#did(what);
    await done;
  }

  /** Nothing is done: it is read. */
  async sees(words: string | RegExp, withinMs = 30_000): Promise<void> {
    await this.page.getByText(words).filter({ visible: true }).first().waitFor({ timeout: withinMs });
  }

  /** @throws AssertionError with all steps, when there were more */
  within(budget: number): void {
    expect(this.steps.length, this.steps.join('; ')).to.be.at.most(budget);
  }

  #did(step: string): void {
    this.steps.push(step);
  }

  #named(role: Role, name: string | RegExp): Locator {
    return this.page.getByRole(role, typeof name === 'string' ? { name, exact: true } : { name });
  }
}
