# The plugin detect on folders of JPEGs in the layouts of Pascal VOC and of Open Images: it finds what is in them, with and
# without a choice of classes; difficult objects do not count; what is wrong in a folder is named by file and line.
# test: slow torch timeout=1200
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/plugins/common/orch-torch.so" ] || skip 'no LibTorch here'
export ORCH_DATA=$SCRATCH/data
# 64x48 pixels: a red rectangle of x 8 to 31 and y 8 to 39, and a blue one of x 32 to 59 and y 4 to 35
red=/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT0//wAARCAAwAEADASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwAoorIrKpU5LaHdgsF9a5veta3Q16KyKKy+s+R3/wBi/wB/8P8AgmvRRRXUeEFFFFABWRWvWRXLieh7uS/b+X6hRRRXMe4a9FFFemfDBRRRQAVkVr0VlUp89tTuwWN+q83u3vbqZFFa9FZfVvM7/wC2v7n4/wDACiiiuo8IKKKKAP/Z
blue=/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT0//wAARCAAwAEADASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwAooooAKKKKAMj+2/8Ap2/8f/8ArUf23/07f+P/AP1qyKK+r/s3C/y/i/8AMw55Gv8A23/07f8Aj/8A9ardhffbPM/d7NmP4s5zn/CudrX0H/lv/wAB/rXJjsDQpUJThGzVur7lRk2zXooor581CiiigDkaKKK+5OYK19B/5b/8B/rWRWvoP/Lf/gP9a4cy/wB1l8vzRUPiNeiiivlDcKKKKAMj+xP+nn/xz/69H9if9PP/AI5/9eteiu7+0sV/N+C/yJ5ImR/Yn/Tz/wCOf/Xq3YWP2PzP3m/fj+HGMZ/xq5RUVcdXqxcJyun5IFFI/9k=
voc=$ORCH_DATA/toys/VOC2007 images=$ORCH_DATA/open
mkdir -p "$voc/Annotations" "$voc/JPEGImages" "$voc/ImageSets/Main" "$images/train" "$images/test"
printf '%s' "$red" | base64 -d >red.jpg
printf '%s' "$blue" | base64 -d >blue.jpg
printf 'red thing\nblue thing\n' >"$voc/labels.txt"
annotate() { # ID CLASS XMIN YMIN XMAX YMAX DIFFICULT
    cat >"$voc/Annotations/$1.xml" <<X
<annotation><size><width>64</width><height>48</height><depth>3</depth></size>
<object><name>$2</name><difficult>$7</difficult>
<bndbox><xmin>$3</xmin><ymin>$4</ymin><xmax>$5</xmax><ymax>$6</ymax></bndbox></object></annotation>
X
}
for split in trainval test; do
    for ((i = 0; i < 12; i++)); do
        annotate "${split}r$i" 'red thing' 9 9 32 40 0
        annotate "${split}b$i" 'blue thing' 33 5 60 36 0
        cp red.jpg "$voc/JPEGImages/${split}r$i.jpg"
        cp blue.jpg "$voc/JPEGImages/${split}b$i.jpg"
        printf '%s\n' "${split}r$i" "${split}b$i" >>"$voc/ImageSets/Main/$split.txt"
    done
done
annotate testr0 'red thing' 9 9 32 40 1
for split in train test; do
    file=$images/sub-$split-annotations-bbox.csv
    printf 'ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsTruncated,IsGroupOf,IsDepiction,IsInside,id,ClassName\n' >"$file"
    for ((i = 0; i < 12; i++)); do
        printf '%s\n' "r$i,xclick,/m/r,1,0.125,0.5,0.16667,0.83333,0,0,0,0,0,/m/r,Red" "b$i,xclick,/m/b,1,0.5,0.9375,0.08333,0.75,0,0,0,0,0,/m/b,Blue" >>"$file"
        cp red.jpg "$images/$split/r$i.jpg"
        cp blue.jpg "$images/$split/b$i.jpg"
    done
done
small='image_size: 64, net: "ssd-small:8", lr: 0.03, batch: 4, epochs: 10, transforms: [], schedule: cosine, layout: plain, threads: 1'
cat >t.recipe <<R
format: 1
recipe: t
with: { $small }
experiments:
  voc: { plugin: detect, with: { dataset: toys } }
  one: { plugin: detect, with: { dataset: toys, classes: [blue thing], epochs: 1 } }
  tested: { plugin: detect, with: { mode: test, dataset: toys, classes: [blue thing], with_empty: true, train_images: 1, weights: "\${one.weights}" } }
  few: { plugin: detect, with: { dataset: toys, train_images: 6, test_images: 4, epochs: 1 } }
  open: { plugin: detect, with: { dataset: open, classes: [Red, Blue] } }
R
ok orch run t.recipe -q
result() { # EXPERIMENT NAME
    ok orch ls --where "experiment=$1 and state=ok" --json
    ok orch show "$(json runs.0.key)" --json
    json "results.$2"
}
at_least() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= b) }' || _fail "$1 is less than $2"; }
same 3.0 "$(result voc class_count)"
same 24.0 "$(result voc train_objects)"
same 23.0 "$(result voc val_objects)" 'objects without the difficult one'
at_least "$(result voc full_map)" 0.9
same 2.0 "$(result one class_count)"
same 12.0 "$(result one train_images)" 'images with the chosen class'
same 0.0 "$(result tested train_objects)" 'a test needs no training image with an object'
same 24.0 "$(result tested val_images_total)"
same 6.0 "$(result few train_images)"
same 4.0 "$(result few val_images_total)"
at_least "$(result open full_map)" 0.9

# the first image has no blue thing, so nothing can be learned from it
printf 'format: 1\nrecipe: n\nexperiments: { n: { plugin: detect, with: { %s, dataset: toys, classes: [blue thing], with_empty: true, train_images: 1 } } }\n' "$small" >n.recipe
fails 1 orch run n.recipe -q
says "the 1 training images of"
says 'have no object to learn from'

# what is wrong is named, and another folder is another trial
ok orch plan t.recipe voc --json
cp red.jpg "$voc/JPEGImages/testb0.jpg"
ok orch plan t.recipe voc
has stale
head -c 300 red.jpg >"$voc/JPEGImages/trainvalr0.jpg"
fails 2 orch check t.recipe
says 'trainvalr0.jpg'
cp red.jpg "$voc/JPEGImages/trainvalr0.jpg"
sed -i 's/<xmax>32/<xmax>5/' "$voc/Annotations/trainvalr1.xml"
fails 2 orch run t.recipe few -q
says 'trainvalr1.xml:2'
rm "$voc/JPEGImages/trainvalr2.jpg"
fails 2 orch run t.recipe few -q
says '1 more such place'
sed -i '/few:/s/epochs: 1/epochs: 1, skip_bad: true/' t.recipe
ok orch run t.recipe few -q
ok orch ls --where "experiment=few and state=ok" --json
ok orch show "$(json runs.0.key)"
has '2 boxes or images were left out; the first is'
sed -i 's/open, classes: \[Red, Blue\]/open, classes: [Red, Green]/' t.recipe
fails 2 orch run t.recipe open -q
says "class 'Green' is not among the 2"
