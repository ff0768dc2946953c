/* Pages opened from the disk may not start a worker. There, the script of the search runs in a hidden frame instead. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "search";
      document.documentElement.append(this.frame);
      const inside = (this.inside = this.frame.contentWindow);
      inside.postMessage = (data) => this.answer(data);
      inside.importScripts = () => {};
      this.ready = new Promise((done, failed) => {
        const script = inside.document.createElement("script");
        script.src = new URL(address, location.href);
        script.onload = done;
        script.onerror = failed;
        inside.document.documentElement.append(script);
      });
      this.ready.catch(() => this.onerror?.(new ErrorEvent("error")));
    }

    answer(data) {
      const message = new MessageEvent("message", { data: structuredClone(data) });  // as from a worker: a copy
      setTimeout(() => {
        this.onmessage?.(message);
        this.dispatchEvent(message);
      });
    }

    postMessage(data) {
      const message = new this.inside.MessageEvent("message", { data: this.inside.structuredClone(data) });
      this.ready.then(() => this.inside.dispatchEvent(message));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
