// Playing a walk: a time between steps that moves on by itself or by hand.

import { byId } from "./svg.js";

const SPEEDS = [1, 2, 4, 8, 16, 32, 64, 128]; // steps per second
const GLIDES = 16; // speed up to which the point glides from step to step

export class Player {
  /** `onMove(time)` is called whenever the time has changed. */
  constructor(panel, onMove) {
    this.panel = panel;
    this.onMove = onMove;
    this.time = 0;
    this.last = 0;
    this.playing = false;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.slider = byId("step");
    this.button = byId("play");
    this.listen();
  }

  get speed() {
    return SPEEDS[Number(byId("speed").value)];
  }

  /** Starts over with a walk of so many steps. */
  load(steps) {
    this.last = steps;
    this.slider.max = steps;
    this.exact = 0;
    this.go(0);
  }

  go(time) {
    this.time = Math.min(Math.max(time, 0), this.last);
    this.slider.value = Math.floor(this.time);
    this.slider.setAttribute("aria-valuetext", `step ${Math.floor(this.time)} of ${this.last}`);
    this.onMove(this.time);
  }

  /** Moves by whole steps, and stops playing. */
  step(by) {
    this.pause();
    this.go(by > 0 ? Math.floor(this.time) + by : Math.ceil(this.time) + by);
  }

  play() {
    if (this.last === 0) return;
    if (this.time >= this.last) this.go(0);
    this.playing = true;
    this.exact = this.time; // with the part of a step that has passed, shown or not
    this.clock = null;
    this.label();
    requestAnimationFrame((now) => this.tick(now));
  }

  pause() {
    this.playing = false;
    this.label();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  label() {
    this.button.classList.toggle("playing", this.playing);
    this.button.setAttribute("aria-label", this.playing ? "Pause" : "Play");
  }

  tick(now) {
    if (!this.playing) return;
    const passed = this.clock === null ? 0 : Math.min((now - this.clock) / 1000, 0.25);
    this.clock = now;
    this.exact += passed * this.speed;
    const glides = this.speed <= GLIDES && !this.still.matches;
    this.go(glides ? this.exact : Math.floor(this.exact));
    if (this.exact >= this.last) this.pause();
    else requestAnimationFrame((next) => this.tick(next));
  }

  listen() {
    const actions = {
      "go-first": () => this.step(-Infinity),
      "go-back": () => this.step(-1),
      "go-on": () => this.step(1),
      "go-last": () => this.step(Infinity),
      play: () => this.toggle(),
    };
    for (const [id, act] of Object.entries(actions)) byId(id).addEventListener("click", act);
    this.slider.addEventListener("input", () => {
      this.pause();
      this.go(Number(this.slider.value));
    });
    document.addEventListener("keydown", (event) => this.key(event));
  }

  /** Keys of the whole page, where no control wants them. */
  key(event) {
    const busy = event.target.closest("input, select, button, summary, textarea");
    if (busy || this.panel.hidden || event.ctrlKey || event.altKey || event.metaKey) return;
    const keys = {
      " ": () => this.toggle(),
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      Home: () => this.step(-Infinity),
      End: () => this.step(Infinity),
    };
    if (!(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  }
}
