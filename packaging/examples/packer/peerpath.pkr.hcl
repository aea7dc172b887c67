# SPDX-License-Identifier: GPL-2.0-or-later
#
# The lines that a template of yours needs are the two provisioners; the source is an example's.
variable "base_image" {
  type        = string
  description = "A Debian cloud image, qcow2"
}

variable "package" {
  type    = string
  default = "peerpath.deb"
}

source "qemu" "debian" {
  iso_url      = var.base_image
  iso_checksum = "none"
  disk_image   = true
  ssh_username = "root"
}

build {
  sources = ["source.qemu.debian"]

  provisioner "file" {
    source      = var.package
    destination = "/tmp/peerpath.deb"
  }

  # The gate: the build fails where an entry of the image would boot translated.
  provisioner "shell" {
    script = "provision.sh"
  }
}
